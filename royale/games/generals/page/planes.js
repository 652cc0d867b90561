// Codes to the planes that the network reads: royale/games/generals/planes.py.

import { CODES } from "./observation.js";

export const N_PLANES = { base: 31, history: 45 };

const { fround } = Math;
const fifth = (x) => fround(fround(Math.log1p(x)) / 5);

// codes (11 S S), scalars (14) -> Float32Array (P S S)
export function expand(codes, scalars, encoder, side) {
  const n = side * side;
  const out = new Float32Array(N_PLANES[encoder] * n);
  const code = (name) => codes.subarray(CODES[name] * n, (CODES[name] + 1) * n);
  const plane = (k) => out.subarray(k * n, (k + 1) * n);
  const bits = (name, from, to, first) => {
    const bytes = code(name);
    for (let bit = from; bit < to; bit++) {
      plane(first + bit - from).set(bytes.map((b) => (b >> bit) & 1));
    }
  };
  bits("sight", 0, 8, 0);
  bits("units", 0, 8, 8);
  const [low, high, price, own] = [code("armyLow"), code("armyHigh"), code("price"), plane(2)];
  const [ownLog, otherLog, ownLinear, otherLinear, cost] = [16, 17, 18, 19, 20].map(plane);
  for (let i = 0; i < n; i++) {
    const army = low[i] + 256 * high[i];
    (own[i] ? ownLog : otherLog)[i] = fifth(army);
    (own[i] ? ownLinear : otherLinear)[i] = Math.min(army, 50) / 50;
    cost[i] = price[i] / 50;
  }
  for (let k = 0; k < 10; k++) plane(21 + k).fill(scalars[k]);
  if (encoder === "base") return out;
  bits("moves", 4, 8, 31);
  bits("memory", 0, 7, 35);
  const [lastLow, lastHigh, age, change] = ["lastLow", "lastHigh", "age", "change"].map(code);
  const [last, since, step, visible] = [42, 43, 44, 1].map(plane);
  for (let i = 0; i < n; i++) {
    last[i] = visible[i] ? 0 : fifth(lastLow[i] + 256 * lastHigh[i]);
    since[i] = age[i] / 255;
    step[i] = Math.sign(change[i] - 128) * fifth(Math.abs(change[i] - 128));
  }
  return out;
}
