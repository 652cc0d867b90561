// Follows runs: polls what is new, draws curves, and shows a game when asked.

import { drawChart } from "./chart.js";
import { openReplay } from "./replay.js";

const get = (id) => document.getElementById(id);
const POLL = 2000; // milliseconds
const POINTS = 300; // of a curve
const RECENT = 10; // rows that the timing is the mean of
const CURVES = {
  "agent steps per second": (row) => row.steps_per_second,
  "entropy, share of the most": (row) => row.entropy,
  "explained variance of the value": (row) => row.explained_variance,
  "share of games drawn": (row) => row.draw_share,
  "turns a game": (row) => row.game_length,
  "KL an update, nats": (row) => row.kl,
  "value loss": (row) => row.value_loss,
  "gradient norm": (row) => row.grad_norm,
  "resident memory, MB": (row) => row.health?.rss_mb ?? null,
};

const rows = new Map(); // run -> its rows
let stopReplay = () => {};

async function ask(path) {
  const answer = await fetch(path);
  const value = await answer.json();
  if (!answer.ok) throw new Error(value.error);
  return value;
}

async function update(name) {
  const known = rows.get(name) ?? [];
  const told = await ask(`rows.json?name=${encodeURIComponent(name)}&from=${known.length}`);
  rows.set(name, [...known.slice(0, told.from), ...told.rows]);
}

// Means of neighbours where there are more rows than a curve shows.
function curve(name, read) {
  const all = rows.get(name) ?? [];
  const size = Math.max(1, Math.ceil(all.length / POINTS));
  const points = [];
  for (let k = 0; k < all.length; k += size) {
    const part = all.slice(k, k + size);
    const values = part.map(read).filter((value) => value !== null && value !== undefined);
    const mean = values.length ? values.reduce((a, b) => a + b, 0) / values.length : null;
    points.push([part.at(-1).agent_steps, mean]);
  }
  return points;
}

function fill(select, names, none) {
  const wanted = [...(none ? [""] : []), ...names];
  const there = [...select.options].map((option) => option.value);
  if (JSON.stringify(wanted) === JSON.stringify(there)) return;
  const before = select.value;
  select.replaceChildren(...wanted.map((name) => new Option(name || none, name)));
  if (wanted.includes(before)) select.value = before;
}

function showAlarms(run) {
  const own = rows.get(run.name) ?? [];
  const items = run.alarms.map((name) => {
    let since = own.length - 1;
    while (since > 0 && own[since - 1].alarms?.includes(name)) since--;
    return [`${name}, since iteration ${own[since]?.iteration}`, "on"];
  });
  if (!items.length) items.push(["none is on", ""]);
  get("alarms").replaceChildren(
    ...items.map(([text, kind]) => {
      const item = document.createElement("li");
      item.textContent = text;
      item.className = kind;
      return item;
    }),
  );
}

function showCurves(names) {
  const place = get("curves");
  for (const [title, read] of Object.entries(CURVES)) {
    let figure = [...place.children].find((one) => one.dataset.title === title);
    if (!figure) {
      figure = document.createElement("figure");
      figure.dataset.title = title;
      figure.innerHTML = `<figcaption>${title}</figcaption><svg class="chart"></svg>`;
      place.append(figure);
    }
    const lines = names.map((name, k) => {
      return { points: curve(name, read), style: k ? "beside" : "own" };
    });
    drawChart(figure.querySelector("svg"), lines, { label: title });
  }
}

function showTiming(name) {
  const recent = (rows.get(name) ?? []).slice(-RECENT);
  const parts = Object.keys(recent[0]?.timing ?? {});
  const mean = (part) => recent.reduce((sum, row) => sum + row.timing[part], 0) / recent.length;
  const total = parts.reduce((sum, part) => sum + mean(part), 0) || 1;
  const made = parts.map((part) => {
    const line = document.createElement("tr");
    const head = document.createElement("th");
    head.scope = "row";
    head.textContent = part;
    line.append(head);
    line.insertCell().textContent = `${mean(part).toFixed(3)} s`;
    line.insertCell().textContent = `${Math.round((100 * mean(part)) / total)}%`;
    const bar = document.createElement("span");
    bar.className = "bar";
    bar.style.width = `${Math.max(0, (100 * mean(part)) / total)}%`;
    line.insertCell().append(bar);
    return line;
  });
  get("timing").tBodies[0].replaceChildren(...made);
}

function ago(seconds) {
  if (seconds < 90) return `${Math.round(seconds)} s ago`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min ago`;
  return `${Math.round(seconds / 3600)} h ago`;
}

async function poll() {
  try {
    const runs = await ask("runs.json");
    fill(get("run"), runs.map(({ name }) => name), "");
    fill(get("other"), runs.map(({ name }) => name), "nothing");
    const run = runs.find(({ name }) => name === get("run").value);
    if (!run) {
      get("state").textContent = "No run has written a row yet.";
      return;
    }
    const names = [run.name, get("other").value].filter(Boolean);
    await Promise.all(names.map(update));
    const steps = `${run.agent_steps?.toLocaleString("en")} agent steps`;
    get("state").textContent = run.finished
      ? `finished: ${steps}`
      : `iteration ${run.iteration}, ${steps}, last row ${ago(run.seconds_ago)}`;
    get("play").disabled = !run.games;
    showAlarms(run);
    showCurves(names);
    showTiming(run.name);
  } catch (error) {
    get("state").textContent = `The server does not answer: ${error.message}`;
  }
}

async function play() {
  get("told").textContent = "playing…";
  get("play").disabled = true;
  try {
    const game = await ask(`game.json?name=${encodeURIComponent(get("run").value)}`);
    stopReplay();
    stopReplay = openReplay(get("replay"), game);
    get("told").textContent = `by the weights after iteration ${game.iteration}`;
  } catch (error) {
    get("told").textContent = error.message;
  }
  get("play").disabled = false;
}

async function follow() {
  if (!document.hidden) await poll();
  setTimeout(follow, POLL);
}

get("play").addEventListener("click", play);
for (const id of ["run", "other"]) get(id).addEventListener("change", poll);
follow();
