// A recorded battle to look at: a slider over its decisions, arena, hands and elixir, the plays.

import { Arena, words } from "./arena.js";
import { Playback, controls } from "./playback.js";

const SIDES = ["Blue", "Red"];
const SPEEDS = [
  [1, "half speed"],
  [2, "as played"],
  [6, "3 times"],
  [20, "10 times"],
];
const SKELETON = `
  <section class="table" aria-label="Battle">
    <div class="line"><p class="result" role="status"></p><p class="turn"></p></div>
    <svg class="board arena" role="img" aria-label="Arena"></svg>
    ${controls("decision", SPEEDS)}
  </section>
  <section class="side" aria-label="Figures">
    <div class="holders"></div>
    <figure><figcaption>Plays</figcaption><ol class="plays" tabindex="0"></ol></figure>
  </section>`;

function element(name, style, text, parent) {
  const made = document.createElement(name);
  made.className = style;
  made.textContent = text;
  parent?.append(made);
  return made;
}

// Show a battle (royale.games.clash.replays) in an element; returns a function that stops it.
export function openReplay(root, record) {
  root.innerHTML = SKELETON;
  const find = (name) => root.querySelector(`.${name}`);
  const arena = new Arena(find("arena"), record);
  const { frames, plays, players, cards, turns } = record;
  const cardOf = (card) => (card < 0 ? null : cards[card]);

  function clock(tick) {
    const seconds = Math.floor((tick * record.tick_ms) / 1000);
    return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
  }

  function result() {
    const [blue, red] = frames[turns].sides.map((side) => side[1]);
    const crowns = `${blue}-${red} crowns`;
    if (record.winner !== null) {
      return `${players[record.winner]} (${SIDES[record.winner]}) wins, ${crowns}`;
    }
    const brokenOff = record.truncated ? `: broken off after ${turns} decisions` : "";
    return `Draw${brokenOff}, ${crowns}`;
  }

  // What the lists of the plays say: [turn, tick, side, card or ability, x, y, why refused].
  const items = plays.map(([turn, tick, side, what, x, y, why]) => {
    const item = element("li", `key seat${side}`, "", find("plays"));
    const name = what < 0 ? `ability ${-what}` : words(cardOf(what)?.[0] ?? "?");
    const place = x < 0 || what < 0 ? "" : ` at ${(x / 10).toFixed(1)}, ${(y / 10).toFixed(1)}`;
    const refused = why ? `: refused, ${why}` : "";
    const jump = element("button", "jump", `${clock(tick)} ${name}${place}${refused}`, item);
    jump.addEventListener("click", () => playback.go(turn));
    return { turn, item };
  });

  const holders = [1, 0].map((side) => {
    const made = element("section", "holder", "", find("holders"));
    const head = element("h2", `key seat${side}`, "", made);
    element("span", "", players[side], head);
    const crowns = element("span", "crowns", "", head);
    const bar = element("div", "elixir", "", made);
    const fill = element("div", `fill seat${side}`, "", bar);
    const amount = element("span", "", "", bar);
    const hand = element("div", "hand", "", made);
    const slots = [0, 1, 2, 3, 4].map((k) => {
      return element("span", k === 4 ? "card next" : "card", "", hand);
    });
    return { side, crowns, fill, amount, slots };
  });

  function hold({ side, crowns, fill, amount, slots }, frame) {
    const [elixir, won, next, ...hand] = frame.sides[side];
    crowns.textContent = `${won} ${won === 1 ? "crown" : "crowns"}`;
    fill.style.width = `${elixir}%`;
    amount.textContent = `${(elixir / 10).toFixed(1)} elixir`;
    [...hand, next].forEach((card, k) => {
      const [name, cost] = cardOf(card) ?? ["–", ""];
      slots[k].textContent = `${k === 4 ? "next: " : ""}${words(name)} ${cost}`;
      slots[k].classList.toggle("dear", k < 4 && 10 * cost > elixir);
    });
  }

  function render(now) {
    const frame = frames[now];
    arena.show(
      frame,
      plays
        .filter(([turn, , , what, x, , why]) => turn === now && what >= 0 && x >= 0 && !why)
        .map(([, , side, , x, y]) => [side, x, y]),
    );
    find("result").textContent = result();
    const rate = frame.rate > 1 ? `, ${frame.rate} times elixir` : "";
    const time = `${clock(frame.tick)}${frame.overtime ? " overtime" : ""}${rate}`;
    find("turn").textContent = `${time}, decision ${now} of ${turns}`;
    for (const holder of holders) hold(holder, frame);
    let latest = null;
    for (const { turn, item } of items) {
      item.classList.toggle("later", turn > now);
      item.classList.toggle("now", turn === now);
      if (turn <= now) latest = item;
    }
    const list = find("plays");
    list.scrollTop = latest ? latest.offsetTop - list.offsetTop - list.clientHeight / 2 : 0;
  }

  const playback = new Playback(root, "decision", turns, render);
  return () => playback.close();
}
