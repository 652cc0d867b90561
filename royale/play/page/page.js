// The page: a person or the bot in each seat, the clock, and what is shown.

import { drawChart } from "./chart.js";
import { Human } from "./human.js";
import { Match, Network } from "./match.js";
import { toOrder } from "./policy.js";
import { parseSeed } from "./random.js";
import { BUILD, PASS } from "./rules.js";
import { Board, describe, NAMES } from "./view.js";

const get = (id) => document.getElementById(id);
const WORDS = ["up", "down", "left", "right"];
const SHOWN = 0.02; // moves less likely are not drawn

let network, match, board, human;
let running = false;
let busy = false;
let times = [[], []]; // milliseconds a move

function begin() {
  const seed = parseSeed(get("seed").value);
  if (seed === null) {
    get("status").textContent = "The seed is a whole number.";
    return;
  }
  const players = get("players").value;
  match = new Match(network, seed, get("policy").value);
  board = new Board(get("board"), match.game);
  human = new Human(match, players === "bots" ? null : Number(players), () => {
    if (!running) tick();
  });
  running = busy = false;
  times = [[], []];
  get("view").value = human.seat ?? "all";
  get("overlay").value = human.seat === null ? "0" : "none";
  think();
}

// Ask the network where an answer is needed, and show the turn.
async function think() {
  const current = match;
  const overlay = get("overlay").value;
  render();
  try {
    for (const seat of [0, 1]) {
      if (seat === human.seat && overlay !== String(seat)) continue;
      const asked = current.thoughts[seat] !== null;
      const { ms } = await current.think(seat);
      if (current !== match) return;
      if (!asked) times[seat].push(ms);
    }
    const thought = overlay === "none" ? null : await current.think(Number(overlay));
    if (current === match) render(thought);
  } catch (error) {
    running = false;
    get("status").textContent = `The network does not run here: ${error.message}`;
  }
}

// One turn.
async function tick() {
  if (busy || match.game.over) return;
  busy = true;
  const current = match;
  const actions = [];
  for (const seat of [0, 1]) {
    actions.push(seat === human.seat ? null : (await current.think(seat)).action);
  }
  if (current !== match) return;
  if (human.seat !== null) actions[human.seat] = human.next();
  match.step(actions);
  if (match.game.over) {
    running = false;
    human.queue = [];
    get("view").value = "all";
  }
  await think();
  if (current !== match) return;
  busy = false;
  if (!running && human.queue.length) tick();
}

async function run(on) {
  const current = match;
  running = on && !match.game.over;
  renderButtons();
  while (running && current === match) {
    const began = performance.now();
    await tick();
    const pause = 1000 / Number(get("speed").value) - (performance.now() - began);
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, pause)));
  }
}

function viewer() {
  const view = get("view").value;
  return view === "all" ? null : Number(view);
}

function percent(share) {
  return `${Math.round(100 * share)}%`;
}

// The likeliest moves of a thought, the first the likeliest: for the board, and in words.
function likeliest({ chances }) {
  const { side } = match.game;
  return [...chances.keys()]
    .filter((action) => chances[action] >= SHOWN)
    .sort((a, b) => chances[b] - chances[a])
    .slice(0, 8)
    .map((action) => {
      const [kind, row, column, direction, split] = toOrder(action, side);
      const share = chances[action];
      const place = `row ${row + 1}, column ${column + 1}`;
      const look = { cell: row * side + column, text: share >= 0.1 ? percent(share) : "" };
      if (kind === PASS) return { share, words: "pass", mark: null };
      if (kind === BUILD) {
        return { share, words: `castle at ${place}`, mark: { ...look, kind: "build" } };
      }
      const words = `${place}, ${split ? "half " : ""}${WORDS[direction]}`;
      const mark = { ...look, direction, weight: share, kind: split ? "half" : "" };
      return { share, words, mark };
    });
}

function outcome() {
  const { winner, truncated, time, over } = match.game;
  if (over && winner >= 0) return `${NAMES[winner]} wins on turn ${time}.`;
  if (over) return truncated ? "Draw: the last turn is played." : "Draw.";
  if (human.seat === null) return "Bot against bot";
  const waiting = human.queue.length;
  return `You are ${NAMES[human.seat]}${waiting > 1 ? `; ${waiting} orders wait` : ""}`;
}

function render(thought = null) {
  const { game, turn } = match;
  const moves = thought && !game.over ? likeliest(thought) : [];
  board.show(turn, viewer(), [...human.marks(), ...moves.map(({ mark }) => mark).filter(Boolean)]);
  get("status").textContent = outcome();
  get("turn").textContent = `Turn ${game.time} of ${game.settings.max_turns}`;
  const { selected } = human;
  get("cell").textContent =
    selected === null ? "\u00a0" : describe(turn, selected, viewer(), game.side);
  get("totals").replaceChildren(...[0, 1].map(totals));
  const items = moves.slice(0, 5).map(({ share, words }) => {
    const item = document.createElement("li");
    item.textContent = `${percent(share)} ${words}`;
    return item;
  });
  get("thoughts").replaceChildren(...items);
  const lines = match.values.map((points, seat) => ({ points, style: `seat${seat}` }));
  const range = { x: [0, Math.max(10, game.time)], y: [-1, 1] };
  drawChart(get("chart"), lines, { label: "Expected result by turn", ...range });
  renderButtons();
}

function renderButtons() {
  const { price, legal } = human.offer();
  get("moves").hidden = human.seat === null;
  get("build").firstChild.data = price === null ? "Castle " : `Castle for ${price} `;
  get("build").disabled = !legal;
  get("half").setAttribute("aria-pressed", human.half);
  for (const id of ["half", "pass", "clear"]) get(id).disabled = !human.plays;
  get("run").textContent = running ? "Stop" : "Run";
  get("run").disabled = get("step").disabled = match.game.over;
}

function totals(seat) {
  const { game } = match;
  const row = document.createElement("tr");
  const head = document.createElement("th");
  head.scope = "row";
  head.innerHTML = `<span class="key seat${seat}"></span>`;
  head.append(`${NAMES[seat]}${human.seat === seat ? " (you)" : ""}`);
  const sorted = [...times[seat]].sort((a, b) => a - b);
  const pace = sorted.length
    ? `${times[seat].at(-1).toFixed(0)} (${sorted[sorted.length >> 1].toFixed(0)})`
    : "–";
  // Land and army of both are public, the other's castles are not.
  const castles = (viewer() ?? seat) === seat ? game.castles[seat] : "?";
  const cells = [game.land[seat], game.total[seat], castles, pace].map((value) => {
    const cell = document.createElement("td");
    cell.textContent = value;
    return cell;
  });
  cells[3].title = "the last move, and the median";
  row.append(head, ...cells);
  return row;
}

// The game so far, as "Save game" writes it.
export function record() {
  return match.record();
}

function save() {
  const link = document.createElement("a");
  const file = new Blob([JSON.stringify(record())], { type: "application/json" });
  link.href = URL.createObjectURL(file);
  link.download = `generals-${match.seed}.json`;
  link.click();
  URL.revokeObjectURL(link.href);
}

function listen() {
  const changing = (change) => () => {
    change();
    think();
  };
  get("new").addEventListener("submit", (event) => {
    event.preventDefault();
    begin();
  });
  get("dice").addEventListener("click", () => {
    get("seed").value = crypto.getRandomValues(new Uint32Array(1))[0];
    begin();
  });
  get("save").addEventListener("click", save);
  get("run").addEventListener("click", () => run(!running));
  get("step").addEventListener("click", tick);
  for (const [id, key] of [["half", "h"], ["build", "b"], ["pass", "p"], ["clear", "Escape"]]) {
    get(id).addEventListener("click", changing(() => human.press(key)));
  }
  for (const id of ["view", "overlay"]) get(id).addEventListener("change", think);
  get("board").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key === " ") run(!running);
    else if (human.press(event.key, event.shiftKey)) think();
    else return;
    event.preventDefault();
  });
  get("board").addEventListener("click", (event) => {
    const cell = board.cellAt(event);
    if (cell !== null) changing(() => human.pick(cell))();
  });
}

async function start() {
  const bot = await (await fetch("bot.json")).json();
  const { settings, title, parameters } = bot;
  const [rows, columns] = [settings.height, settings.width].map((ends) => {
    return [...new Set(ends)].join("–");
  });
  get("about").textContent =
    `${title}: ${parameters.toLocaleString("en")} weights, boards ${rows}×${columns}`;
  for (const place of document.querySelectorAll("[data-rule]")) {
    place.textContent = settings[place.dataset.rule];
  }
  network = new Network(bot);
  get("seed").value ||= "1";
  listen();
  begin();
}

start().catch((error) => {
  get("status").textContent = `The page could not start: ${error.message}`;
});
