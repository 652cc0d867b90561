// A recorded game to look at: a slider over its turns, and the board as anyone saw it.

import { drawChart } from "./chart.js";
import { Memory } from "./observation.js";
import { Playback, controls } from "./playback.js";
import { toOrder } from "./policy.js";
import { BUILD, Game, PASS } from "./rules.js";
import { Board, NAMES, snapshot } from "./view.js";

const SPEEDS = [2, 5, 15, 50].map((speed) => [speed, `${speed} turns/s`]);
const SKELETON = `
  <section class="table" aria-label="Game">
    <div class="line"><p class="result" role="status"></p><p class="turn"></p></div>
    <svg class="board" role="img" aria-label="Board"></svg>
    ${controls("turn", SPEEDS)}
  </section>
  <section class="side" aria-label="Figures">
    <table>
      <thead><tr>
        <th></th><th scope="col">Land</th><th scope="col">Army</th><th scope="col">Castles</th>
      </tr></thead>
      <tbody class="totals"></tbody>
    </table>
    <div class="pair"><label>Show <select class="view">
      <option value="all">everything</option>
      <option value="0">what Orange sees</option>
      <option value="1">what Blue sees</option>
    </select></label></div>
    <figure>
      <figcaption>
        Army by turn <span class="key seat0">Orange</span> <span class="key seat1">Blue</span>
      </figcaption>
      <svg class="chart"></svg>
    </figure>
    <p class="fault" role="alert"></p>
  </section>`;

// The states of a game, worked out from its actions when they are first looked at.
class Turns {
  constructor({ settings, board, actions, totals }) {
    Object.assign(this, { actions, totals });
    this.game = new Game(settings, board);
    this.memories = [0, 1].map((seat) => new Memory(this.game, seat));
    this.known = [];
    this.fault = null; // the first turn that is not as the engine played it
    this.note();
  }

  orders(turn) {
    return this.actions[turn]?.map((action) => toOrder(action, this.game.side)) ?? [];
  }

  note() {
    const { game, fault, totals } = this;
    const found = JSON.stringify([...game.land, ...game.total]);
    if (fault === null && found !== JSON.stringify(totals[game.time])) this.fault = game.time;
    this.known.push(snapshot(game, this.memories.map((memory) => memory.observe())));
  }

  at(turn) {
    while (this.known.length <= turn) {
      this.game.step(this.orders(this.known.length - 1));
      this.note();
    }
    return this.known[turn];
  }
}

// Show a record (royale.games.generals.replays) in an element; returns a function that stops it.
export function openReplay(root, record) {
  root.innerHTML = SKELETON;
  const find = (name) => root.querySelector(`.${name}`);
  const turns = new Turns(record);
  const { side } = record.settings;
  const board = new Board(find("board"), turns.game);
  const end = record.actions.length;

  function marks(turn, viewer) {
    return turns.orders(turn).flatMap(([kind, row, column, direction, split], seat) => {
      if (kind === PASS || (viewer !== null && viewer !== seat)) return [];
      const cell = row * side + column;
      if (kind === BUILD) return [{ cell, kind: "build" }];
      return [{ cell, direction, weight: 0.3, kind: split ? "half" : "" }];
    });
  }

  function result() {
    const { winner, truncated, players } = record;
    if (winner !== null) return `${players[winner]} (${NAMES[winner]}) wins on turn ${end}`;
    return truncated ? `Draw: all ${end} turns are played` : `Draw on turn ${end}`;
  }

  function render(now) {
    const view = find("view").value;
    const viewer = view === "all" ? null : Number(view);
    const turn = turns.at(now);
    board.show(turn, viewer, marks(now, viewer));
    find("result").textContent = result();
    find("turn").textContent = `Turn ${now} of ${end}`;
    find("totals").replaceChildren(...[0, 1].map((seat) => row(turn, seat)));
    const lines = [0, 1].map((seat) => ({
      points: record.totals.map((total, k) => [k, total[2 + seat]]),
      style: `seat${seat}`,
    }));
    drawChart(find("chart"), lines, { label: "Army by turn", y: [0], at: now });
    const { fault } = turns;
    find("fault").textContent =
      fault === null ? "" : `From turn ${fault} on, this page does not play as the engine did.`;
  }

  function row(turn, seat) {
    const made = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.innerHTML = `<span class="key seat${seat}"></span>`;
    head.append(record.players[seat]);
    made.append(head);
    for (const value of [turn.land[seat], turn.total[seat], turn.castles[seat]]) {
      made.insertCell().textContent = value;
    }
    return made;
  }

  const playback = new Playback(root, "turn", end, render);
  find("view").addEventListener("change", () => playback.render());
  return () => playback.close();
}
