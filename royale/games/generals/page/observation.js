// What a seat sees and remembers, as the network was trained on it: the codes of
// royale/games/generals/observation.py, byte by byte.

import { CASTLE, GENERAL, INSIDE, MOUNTAIN, STEPS, STRUCTURE } from "./rules.js";

export const CODES = {
  sight: 0, units: 1, armyLow: 2, armyHigh: 3, price: 4, moves: 5,
  memory: 6, lastLow: 7, lastHigh: 8, age: 9, change: 10,
};
export const N_CODES = 11;
export const VISIBLE = 2; // bit of `sight`
export const CASTLE_IN_FOG = 32; // bits of `moves`
export const GENERAL_KNOWN = 128;
const MAX_ARMY = 32767;
const NEVER = 255;

export class Memory {
  constructor(game, seat) {
    const n = game.side * game.side;
    Object.assign(this, { game, seat });
    this.flags = new Uint8Array(n);
    this.lastArmy = new Int32Array(n);
    this.age = new Uint8Array(n).fill(NEVER);
    this.change = new Uint8Array(n).fill(128);
    this.turn = -1;
  }

  // 1 within the 3x3 block around an own cell.
  look() {
    const { owner, side } = this.game;
    const seen = new Uint8Array(side * side);
    for (let i = 0; i < owner.length; i++) {
      if (owner[i] !== this.seat) continue;
      const row = Math.floor(i / side);
      const column = i % side;
      for (let r = Math.max(0, row - 1); r <= Math.min(side - 1, row + 1); r++) {
        for (let c = Math.max(0, column - 1); c <= Math.min(side - 1, column + 1); c++) {
          seen[r * side + c] = 1;
        }
      }
    }
    return seen;
  }

  // Bring the memory up to date with a new turn.
  remember(seen) {
    const { game, seat, flags, lastArmy, age, change } = this;
    for (let i = 0; i < seen.length; i++) {
      const own = game.owner[i] === seat ? 1 : 0;
      const opponent = game.owner[i] === 1 - seat ? 1 : 0;
      const army = Math.min(game.army[i], MAX_ARMY);
      const was = age[i] === 0 ? 1 : 0;
      const held = (flags[i] >> 2) & was;
      const step = Math.max(-127, Math.min(127, army - lastArmy[i]));
      change[i] = seen[i] && was ? 128 + step : 128;
      flags[i] =
        (flags[i] & 1) | seen[i] | (own << 2) | ((opponent & seen[i]) << 1) |
        (seen[i] ? 0 : flags[i] & 6) | ((own & (held ^ 1)) << 3) | ((held & (own ^ 1)) << 4);
      if (seen[i]) lastArmy[i] = army;
      age[i] = seen[i] ? 0 : age[i] < NEVER - 1 ? age[i] + 1 : age[i];
    }
    if (game.source[seat] >= 0) {
      flags[game.source[seat]] |= 32;
      flags[game.target[seat]] |= 64;
    }
  }

  // -> { codes (11 S S), scalars (14), legal (9 S S + 1) }
  observe() {
    const { game, seat, flags } = this;
    const { side, owner, army, kind } = game;
    const n = side * side;
    const seen = this.look();
    if (this.turn !== game.time) {
      this.remember(seen);
      this.turn = game.time;
    }
    const price = this.prices();
    const mayBuild = game.mayBuild(seat);
    const codes = new Uint8Array(N_CODES * n);
    const plane = (code) => codes.subarray(code * n, (code + 1) * n);
    const [sight, units, low, high, prices, moves] = [0, 1, 2, 3, 4, 5].map(plane);
    for (let i = 0; i < n; i++) {
      const own = owner[i] === seat ? 1 : 0;
      const opponent = owner[i] === 1 - seat ? seen[i] : 0;
      const mountain = kind[i] & MOUNTAIN;
      const castle = (kind[i] & CASTLE) >> 1;
      const general = (kind[i] & GENERAL) >> 2;
      const inside = (kind[i] & INSIDE) >> 3;
      const hidden = seen[i] ^ 1;
      sight[i] =
        inside | (seen[i] << 1) | (own << 2) | (opponent << 3) | ((mountain & seen[i]) << 4) |
        ((castle & seen[i]) << 5) |
        ((general & seen[i]) << 6) |
        (((mountain | castle) & hidden) << 7);
      const shown = seen[i] ? Math.min(army[i], MAX_ARMY) : 0;
      low[i] = shown & 255;
      high[i] = shown >> 8;
      prices[i] = Math.min(price[i], 255);
      let open = 0;
      if (own && army[i] > 1) {
        const row = Math.floor(i / side);
        STEPS.forEach(([down, right], direction) => {
          const column = (i % side) + right;
          if (!game.onBoard(row + down, column)) return;
          if (!(kind[game.cell(row + down, column)] & MOUNTAIN)) open |= 1 << direction;
        });
      }
      moves[i] =
        open | (mountain << 4) | ((castle & hidden) << 5) |
        ((inside & (flags[i] ^ 1) & (mountain ^ 1) & 1) << 6) |
        ((general & flags[i] & (own ^ 1)) << 7);
      const builds = own && mayBuild && !(kind[i] & STRUCTURE) && army[i] >= price[i];
      units[i] =
        (castle & own) | ((castle & opponent) << 1) | ((general & own) << 2) |
        ((general & opponent) << 3) | (seen[i] && !(own | opponent | mountain) ? 16 : 0) |
        (hidden && !(mountain | castle) ? 32 : 0) | (open ? 64 : 0) | (builds ? 128 : 0);
    }
    plane(CODES.memory).set(flags);
    plane(CODES.lastLow).set(this.lastArmy.map((a) => a & 255));
    plane(CODES.lastHigh).set(this.lastArmy.map((a) => a >> 8));
    plane(CODES.age).set(this.age);
    plane(CODES.change).set(this.change);
    return { codes, scalars: this.scalars(), legal: this.legal(moves, units) };
  }

  prices() {
    const { game, seat } = this;
    const { side } = game;
    const out = new Int32Array(side * side).fill(game.settings.build_base);
    const surcharge = game.settings.build_surcharge;
    for (let i = 0; i < out.length; i++) {
      if (game.owner[i] !== seat || !(game.kind[i] & STRUCTURE)) continue;
      for (let j = 0; j < out.length; j++) {
        const rows = Math.abs(Math.floor(i / side) - Math.floor(j / side));
        out[j] += Math.max(0, surcharge - 2 * (rows + Math.abs((i % side) - (j % side))));
      }
    }
    return out;
  }

  legal(moves, units) {
    const n = moves.length;
    const legal = new Uint8Array(9 * n + 1);
    for (let i = 0; i < n; i++) {
      for (let direction = 0; direction < 4; direction++) {
        legal[direction * n + i] = legal[(direction + 4) * n + i] = (moves[i] >> direction) & 1;
      }
      legal[8 * n + i] = units[i] >> 7;
    }
    legal[9 * n] = 1;
    return legal;
  }

  scalars() {
    const { game, seat } = this;
    const { time, land, total, height, width, side } = game;
    const touch = game.settings.deathtouch_turn;
    const area = height * width;
    const lead = (own, other) => (own + other > 0 ? (own - other) / (own + other) : 0);
    return Float32Array.of(
      land[seat] / area,
      land[1 - seat] / area,
      Math.log1p(total[seat]) / 8,
      Math.log1p(total[1 - seat]) / 8,
      time / game.settings.max_turns,
      time % 2,
      (time % 50) / 50,
      time >= touch ? 1 : 0,
      Math.max(touch - time, 0) / Math.max(touch, 1),
      Math.log1p(game.castles[seat]) / 3,
      height / side,
      width / side,
      lead(land[seat], land[1 - seat]),
      lead(total[seat], total[1 - seat]),
    );
  }
}
