// From the network's outputs to an order, and to what a person can read.

import { BUILD, MOVE, PASS, PASS_ORDER } from "./rules.js";

// logits and legal (A) -> probabilities (A), 0 where illegal
export function probabilities(logits, legal) {
  let peak = -Infinity;
  for (let a = 0; a < legal.length; a++) if (legal[a]) peak = Math.max(peak, logits[a]);
  const out = new Float64Array(legal.length);
  let total = 0;
  for (let a = 0; a < legal.length; a++) {
    if (legal[a]) total += out[a] = Math.exp(logits[a] - peak);
  }
  return out.map((weight) => weight / total);
}

// The legal action of greatest logit; ties go to the lowest index.
export function greedy(logits, legal) {
  let best = -1;
  for (let a = 0; a < legal.length; a++) {
    if (legal[a] && (best < 0 || logits[a] > logits[best])) best = a;
  }
  return best;
}

// An action drawn with probabilities (A), from a uniform number in [0, 1).
export function sample(chances, uniform) {
  let chosen = -1;
  for (let a = 0; a < chances.length; a++) {
    if (!chances[a]) continue;
    chosen = a;
    uniform -= chances[a];
    if (uniform < 0) break;
  }
  return chosen;
}

export function toOrder(action, side) {
  const n = side * side;
  const plane = Math.floor(action / n);
  const cell = action % n;
  if (plane > 8) return PASS_ORDER;
  const [row, column] = [Math.floor(cell / side), cell % side];
  if (plane === 8) return [BUILD, row, column, 0, 0];
  return [MOVE, row, column, plane % 4, plane >> 2];
}

export function toAction([kind, row, column, direction, split], side) {
  const n = side * side;
  if (kind === PASS) return 9 * n;
  return (kind === BUILD ? 8 : direction + 4 * split) * n + row * side + column;
}

// The expected result, -1 to 1. The network's value is that less the shaping potential of now.
export function expectedResult(outputs, bot, scalars) {
  let value = outputs[0];
  if (bot.value_head !== "scalar") {
    const bins = outputs.length;
    const chances = probabilities(outputs, new Uint8Array(bins).fill(1));
    const middle = (k) => (2 * k + 1) / bins - 1;
    value = chances.reduce((sum, p, k) => sum + p * bot.value_support * middle(k), 0);
  }
  const leads = { land: scalars[12], army: scalars[13] };
  for (const [name, weight] of Object.entries(bot.shaping)) value += weight * leads[name];
  return Math.max(-1, Math.min(1, value));
}
