// Random boards: the same as royale/games/generals/maps.py deals for the same seed.

import { mix, unit } from "./random.js";

const CANDIDATES = 8;
const ATTEMPTS = 64;
const ZONE_LOG_WEIGHT = 20;

function draw(key, tag, index) {
  return unit(mix(mix(key ^ mix(BigInt(tag))) ^ BigInt(index)));
}

function between(key, tag, low, high) {
  return low + Math.min(Math.floor(draw(key, tag, 0) * (high - low + 1)), high - low);
}

function shuffleFirst(key, tag, values, count) {
  const n = values.length;
  for (let k = 0; k < count; k++) {
    const j = k + Math.min(Math.floor(draw(key, tag, k) * (n - k)), n - k - 1);
    [values[k], values[j]] = [values[j], values[k]];
  }
}

// Steps from the nearest of `starts` over free cells, -1 where none leads within `limit`.
function walk(blocked, height, width, starts, limit) {
  const distance = new Int32Array(height * width).fill(-1);
  const queue = [...starts];
  for (const cell of starts) distance[cell] = 0;
  const visit = (cell, steps) => {
    if (blocked[cell] || distance[cell] >= 0) return;
    distance[cell] = steps;
    queue.push(cell);
  };
  for (let head = 0; head < queue.length; head++) {
    const cell = queue[head];
    const steps = distance[cell] + 1;
    if (steps > limit) break;
    const row = Math.floor(cell / width);
    const column = cell % width;
    if (row > 0) visit(cell - width, steps);
    if (row + 1 < height) visit(cell + width, steps);
    if (column > 0) visit(cell - 1, steps);
    if (column + 1 < width) visit(cell + 1, steps);
  }
  return { distance, reached: queue.length };
}

// Cells tried for the first general: Gumbel noise, raised within the castle zone, greatest first.
function candidates(key, blocked, zone) {
  const noise = Array.from(blocked, (stone, i) => {
    if (stone) return -Infinity;
    const u = Math.max(draw(key, 5, i), 1e-300);
    return -Math.log(-Math.log(u)) + (zone[i] >= 0 ? ZONE_LOG_WEIGHT : 0);
  });
  const chosen = [];
  while (chosen.length < CANDIDATES) {
    let best = 0;
    for (let i = 1; i < noise.length; i++) if (noise[i] > noise[best]) best = i;
    if (noise[best] === -Infinity) break;
    noise[best] = -Infinity;
    chosen.push(best);
  }
  return chosen;
}

// Cells of the two generals, or null if there is no such pair.
function place(key, blocked, zone, height, width, settings) {
  const area = height * width;
  const room = Array.from(blocked, (stone, i) =>
    stone ? -1 : walk(blocked, height, width, [i], settings.room_steps).reached - 1,
  );
  let best = null;
  candidates(key, blocked, zone).forEach((cell, order) => {
    const { distance } = walk(blocked, height, width, [cell], area);
    let gap = area;
    let span = 0;
    for (let i = 0; i < area; i++) {
      span = Math.max(span, distance[i]);
      if (distance[i] >= settings.min_distance) gap = Math.min(gap, Math.abs(room[i] - room[cell]));
    }
    const far = gap < area;
    const fair = far && gap <= settings.room_tolerance;
    const score = 100000 * (2 * fair + far) - 100 * gap + span - order;
    if (!best || score > best.score) best = { score, cell, gap, span, far, fair, distance };
  });
  if (!best || best.span === 0) return null;
  const partners = [];
  for (let i = 0; i < area; i++) {
    const distance = best.distance[i];
    const limit = best.fair ? settings.room_tolerance : best.gap;
    const take = best.far
      ? distance >= settings.min_distance && Math.abs(room[i] - room[best.cell]) <= limit
      : distance === best.span;
    if (take) partners.push(i);
  }
  const second = partners[between(key, 6, 0, partners.length - 1)];
  return draw(key, 7, 0) < 0.5 ? [best.cell, second] : [second, best.cell];
}

function attempt(key, height, width, settings, blocked) {
  const area = height * width;
  const [low, high] = settings.mountain_share.map((share) => Math.floor(share * area));
  const nMountains = Math.min(between(key, 1, low, high), Math.floor(area / 4));
  const nCastles = Math.min(between(key, 2, ...settings.castles_carved), nMountains);
  const order = Array.from({ length: area }, (_, i) => i);
  shuffleFirst(key, 3, order, nMountains);
  const mountains = order.slice(0, nMountains);
  shuffleFirst(key, 4, mountains, nCastles);
  blocked.fill(0);
  for (const cell of mountains.slice(nCastles)) blocked[cell] = 1;
  const castles = mountains.slice(0, nCastles);
  const zone = walk(blocked, height, width, castles, settings.castle_zone).distance;
  return place(key, blocked, zone, height, width, settings);
}

// seed: BigInt; settings: all of the game's. -> { height, width, mountains, generals }, cells in
// row order.
export function deal(seed, settings) {
  const height = between(seed, 10, ...settings.height);
  const width = between(seed, 11, ...settings.width);
  const mountains = new Uint8Array(height * width);
  for (let k = 0; k < ATTEMPTS; k++) {
    const key = mix(seed ^ mix(BigInt(1000 + k)));
    const generals = attempt(key, height, width, settings, mountains);
    if (generals) return { height, width, mountains, generals };
  }
  mountains.fill(0);
  return { height, width, mountains, generals: [0, height * width - 1] };
}
