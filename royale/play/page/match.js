// One game in the page: the rules, what both seats see, and what the network makes of it.

import { deal } from "./maps.js";
import { Memory } from "./observation.js";
import { expand } from "./planes.js";
import { expectedResult, greedy, probabilities, sample, toAction, toOrder } from "./policy.js";
import { fold, unit } from "./random.js";
import { Game } from "./rules.js";
import { snapshot } from "./view.js";

// The network behind `worker.js`.
export class Network {
  constructor(bot) {
    this.bot = bot;
    this.waiting = new Map();
    this.asked = 0;
    this.worker = new Worker(new URL("./worker.js", import.meta.url), { type: "module" });
    this.worker.onmessage = ({ data }) => {
      const { resolve, reject } = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if (data.error) reject(new Error(data.error));
      else resolve(data);
    };
    this.worker.onerror = (event) => {
      const why = event.message ?? "its worker does not load";
      for (const { reject } of this.waiting.values()) reject(new Error(why));
    };
  }

  // observation -> { logits, value } as Float32Arrays
  run({ codes, scalars }) {
    const side = this.bot.settings.side;
    const planes = expand(codes, scalars, this.bot.encoder, side);
    const shape = [1, planes.length / (side * side), side, side];
    const id = this.asked++;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ id, planes, shape }, [planes.buffer]);
    });
  }
}

export class Match {
  // seed: BigInt, of the board and of sampled moves; policy: "greedy" or "sample"
  constructor(network, seed, policy) {
    const { settings } = network.bot;
    Object.assign(this, { network, seed, policy });
    this.game = new Game(settings, deal(seed, settings));
    this.memories = [0, 1].map((seat) => new Memory(this.game, seat));
    this.choices = fold(seed, 1);
    this.actions = []; // a pair a turn
    this.values = [[], []]; // [turn, expected result] of each seat that was asked
    this.look();
  }

  look() {
    this.seen = this.memories.map((memory) => memory.observe());
    this.turn = snapshot(this.game, this.seen);
    this.thoughts = [null, null];
  }

  // What the network makes of a seat's view of this turn; asked once.
  think(seat) {
    this.thoughts[seat] ??= this.ask(seat, this.game.time, this.seen[seat]);
    return this.thoughts[seat];
  }

  async ask(seat, time, seen) {
    const began = performance.now();
    const { logits, value } = await this.network.run(seen);
    const chances = probabilities(logits, seen.legal);
    const uniform = unit(fold(this.choices, time, seat));
    const action = this.policy === "greedy" ? greedy(logits, seen.legal) : sample(chances, uniform);
    const result = expectedResult(value, this.network.bot, seen.scalars);
    this.values[seat].push([time, result]);
    return { chances, action, result, ms: performance.now() - began };
  }

  isLegal(seat, order) {
    return this.seen[seat].legal[toAction(order, this.game.side)] === 1;
  }

  // One turn of a flat action a seat.
  step(actions) {
    this.actions.push(actions);
    this.game.step(actions.map((action) => toOrder(action, this.game.side)));
    this.look();
  }

  // The game so far, to be saved; replaying `actions` on the seed's board gives it again.
  record() {
    const { time, winner, over, truncated } = this.game;
    return {
      seed: String(this.seed),
      policy: this.policy,
      champion_sha256: this.network.bot.champion_sha256,
      settings: this.network.bot.settings,
      turns: time,
      over,
      winner: winner < 0 ? null : winner,
      truncated,
      actions: this.actions,
    };
  }
}
