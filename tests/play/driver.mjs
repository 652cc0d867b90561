// Runs the page's modules outside of a browser: one JSON request on stdin, one answer on stdout.

import { readFileSync } from "node:fs";

const [, , folder] = process.argv;
const load = (name) => import(`${folder}/${name}.js`);
const [maps, { Game }, { Memory }, { expand }, policy, { fold, unit }] = await Promise.all(
  ["maps", "rules", "observation", "planes", "policy", "random"].map(load),
);
const base64 = (array) =>
  Buffer.from(array.buffer, array.byteOffset, array.byteLength).toString("base64");

function stateOf(game) {
  const { time, winner, over, truncated, land, total } = game;
  const arrays = { owner: game.owner, army: game.army, kind: game.kind };
  const coded = Object.fromEntries(Object.entries(arrays).map(([k, a]) => [k, base64(a)]));
  return { ...coded, time, winner, over, truncated, land: [...land], total: [...total] };
}

function gameAt({ settings, owner, army, kind, generals, time }) {
  const { side } = settings;
  const mountains = kind.map((bits) => bits & 1);
  const game = new Game(settings, { height: side, width: side, mountains, generals });
  game.owner.set(owner);
  game.army.set(army);
  kind.forEach((bits, i) => (game.kind[i] |= bits));
  game.time = time;
  game.count();
  return game;
}

const tasks = {
  deal: ({ settings, seeds }) =>
    seeds.map((seed) => {
      const board = maps.deal(BigInt(seed), settings);
      return { ...board, mountains: [...board.mountains] };
    }),
  // Plays orders from a position; all states, the first included.
  orders: ({ position, orders }) => {
    const game = gameAt(position);
    const states = [stateOf(game)];
    for (const pair of orders) {
      game.step(pair);
      states.push(stateOf(game));
    }
    return states;
  },
  steps: ({ positions }) =>
    positions.map((position, k) => {
      const game = gameAt(position);
      const prices = [0, 1].map((seat) => new Memory(game, seat).prices());
      // the price of one cell is worked out on its own; one cell a position, in turn
      const cell = k % game.owner.length;
      const one = prices.every((array, seat) => array[cell] === game.price(seat, cell));
      game.step(position.orders);
      return { ...stateOf(game), prices: prices.map(base64), one };
    }),
  // Plays flat actions on a dealt board; both seats' observations and planes of every turn.
  actions: ({ settings, seed, actions }) => {
    const game = new Game(settings, maps.deal(BigInt(seed), settings));
    const memories = [0, 1].map((seat) => new Memory(game, seat));
    const { side } = settings;
    return actions.map((pair) => {
      const seats = memories.map((memory) => {
        const { codes, scalars, legal } = memory.observe();
        const [base, history] = ["base", "history"].map((e) => expand(codes, scalars, e, side));
        const found = { codes, scalars, legal, base, history };
        return Object.fromEntries(Object.entries(found).map(([k, a]) => [k, base64(a)]));
      });
      const orders = pair.map((action) => policy.toOrder(action, side));
      const back = orders.map((order) => policy.toAction(order, side));
      game.step(orders);
      return { seats, back, over: game.over, winner: game.winner };
    });
  },
  policy: ({ rows }) =>
    rows.map(({ logits, legal, uniform }) => ({
      greedy: policy.greedy(logits, legal),
      sampled: policy.sample(policy.probabilities(logits, legal), uniform),
    })),
  value: ({ outputs, bot, scalars }) => policy.expectedResult(outputs, bot, scalars),
  uniforms: ({ keys }) => keys.map(([key, ...parts]) => unit(fold(BigInt(key), ...parts))),
};

const { task, ...request } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(tasks[task](request)));
