// Draws a board: one SVG, a group of shapes a cell, made once and changed where a cell changes.

import { CODES, CASTLE_IN_FOG, GENERAL_KNOWN, VISIBLE } from "./observation.js";
import { CASTLE, GENERAL, MOUNTAIN, STEPS } from "./rules.js";
import { svgElement } from "./svg.js";

export const NAMES = ["Orange", "Blue"];
const UNIT = 24; // of the drawing, a cell's side
const ICONS = {
  mountain: "M2 20 9 7l4 6 3-4 6 11z",
  castle: "M4 20V7h3v3h3V7h4v3h3V7h3v13h-6v-5h-4v5z",
  general: "M3 19V8l5 4 4-8 4 8 5-4v11z",
};

// All that drawing needs of a turn: the state, and what both seats see of it.
export function snapshot(game, observations) {
  const n = game.side * game.side;
  const code = (seat, name) =>
    observations[seat].codes.slice(CODES[name] * n, (CODES[name] + 1) * n);
  return {
    time: game.time,
    owner: game.owner.slice(),
    army: game.army.slice(),
    kind: game.kind.slice(),
    sight: [0, 1].map((seat) => code(seat, "sight")),
    known: [0, 1].map((seat) => code(seat, "moves")),
    land: [...game.land],
    total: [...game.total],
    castles: [...game.castles],
  };
}

// What a viewer (a seat, or null for everything) sees at a cell.
export function cellOf(turn, cell, viewer) {
  const kind = turn.kind[cell];
  if (viewer === null || turn.sight[viewer][cell] & VISIBLE) {
    const icon =
      kind & GENERAL ? "general" : kind & CASTLE ? "castle" : kind & MOUNTAIN ? "mountain" : null;
    return { fog: false, owner: turn.owner[cell], army: turn.army[cell], icon };
  }
  const known = turn.known[viewer][cell];
  const icon =
    kind & MOUNTAIN
      ? "mountain"
      : known & GENERAL_KNOWN
        ? "general"
        : known & CASTLE_IN_FOG
          ? "castle"
          : null;
  return { fog: true, owner: -1, army: 0, icon };
}

// The same in words.
export function describe(turn, cell, viewer, side) {
  const { fog, owner, army, icon } = cellOf(turn, cell, viewer);
  const place = `row ${Math.floor(cell / side) + 1}, column ${(cell % side) + 1}`;
  const holder = owner < 0 ? "" : `${NAMES[owner]}, army ${army}`;
  const ground = icon ?? (fog || owner >= 0 ? "" : "empty");
  return [place, ground, holder, fog ? "in fog" : ""].filter(Boolean).join(", ");
}

function short(army) {
  return army < 10000 ? String(army) : `${Math.floor(army / 1000)}k`;
}

export class Board {
  constructor(svg, game) {
    Object.assign(this, { svg, side: game.side, height: game.height, width: game.width });
    svg.setAttribute("viewBox", `0 0 ${game.width * UNIT} ${game.height * UNIT}`);
    svg.style.setProperty("--shape", game.width / game.height);
    svg.replaceChildren();
    const defs = svgElement("defs", {}, svg);
    const hatch = { id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse" };
    svgElement("path", { d: "M0 6 6 0", class: "hatch" }, svgElement("pattern", hatch, defs));
    for (const name of ["dark", "light"]) {
      const size = name === "dark" ? 8 : 11;
      const head = { id: `head-${name}`, orient: "auto", viewBox: "0 0 4 4", refX: 2, refY: 2 };
      const units = { markerUnits: "userSpaceOnUse", markerWidth: size, markerHeight: size };
      const marker = svgElement("marker", { ...head, ...units }, defs);
      svgElement("path", { d: "M0 0 4 2 0 4z", class: `head ${name}` }, marker);
    }
    this.cells = new Map();
    for (let row = 0; row < game.height; row++) {
      for (let column = 0; column < game.width; column++) this.addCell(row, column);
    }
    this.overlay = svgElement("g", { class: "overlay", "aria-hidden": "true" }, svg);
  }

  addCell(row, column) {
    const cell = row * this.side + column;
    const place = `translate(${column * UNIT} ${row * UNIT})`;
    const group = svgElement("g", { transform: place, "data-cell": cell }, this.svg);
    svgElement("rect", { width: UNIT, height: UNIT, class: "ground" }, group);
    svgElement("rect", { width: UNIT, height: UNIT, fill: "url(#hatch)", class: "stripes" }, group);
    const icon = svgElement("path", { class: "icon" }, group);
    const army = svgElement("text", { x: UNIT / 2, y: UNIT / 2 }, group);
    this.cells.set(cell, { group, icon, army, shown: "" });
  }

  // Show a turn as a viewer sees it; marks are arrows and rings: see `mark`.
  show(turn, viewer, marks = []) {
    for (const [cell, parts] of this.cells) {
      const { fog, owner, army, icon } = cellOf(turn, cell, viewer);
      const shown = `${fog} ${owner} ${army} ${icon}`;
      if (shown === parts.shown) continue;
      parts.shown = shown;
      const holder = owner < 0 ? "free" : `seat${owner}`;
      parts.group.setAttribute("class", `cell ${fog ? "fog" : holder} ${icon ?? "plain"}`);
      parts.icon.setAttribute("d", icon ? ICONS[icon] : "");
      parts.army.textContent = owner >= 0 || army ? short(army) : "";
      parts.army.setAttribute("class", army > 999 ? "small" : "");
    }
    this.overlay.replaceChildren();
    for (const one of marks) this.mark(one);
    for (const one of marks) this.caption(one);
  }

  // { cell, direction, weight, kind, text }: an arrow, or without direction a ring on the cell.
  mark({ cell, direction = null, weight = 0, kind }) {
    const [x, y] = this.middle(cell);
    if (direction === null) {
      const box = { x: x - UNIT / 2 + 1, y: y - UNIT / 2 + 1, width: UNIT - 2, height: UNIT - 2 };
      svgElement("rect", { ...box, rx: 3, class: `ring back ${kind}` }, this.overlay);
      svgElement("rect", { ...box, rx: 3, class: `ring ${kind}` }, this.overlay);
    } else {
      const [down, right] = STEPS[direction];
      const end = `${x + right * UNIT * 0.72} ${y + down * UNIT * 0.72}`;
      const d = `M${x + right * 5} ${y + down * 5} L${end}`;
      for (const layer of ["back", ""]) {
        const width = 1.5 + 3.5 * weight + (layer ? 1.6 : 0);
        const head = `url(#head-${layer ? "light" : "dark"})`;
        const look = { class: `arrow ${layer} ${kind}`, "stroke-width": width, "marker-end": head };
        svgElement("path", { d, ...look }, this.overlay);
      }
    }
  }

  // A mark's text, beside its arrow.
  caption({ cell, direction = null, text = "" }) {
    if (!text) return;
    const [x, y] = this.middle(cell);
    const [down, right] = direction === null ? [0, 0] : STEPS[direction];
    const at = { x: x + right * 9 + (down ? 8 : 0), y: y + down * 9 - (right ? 7 : 0) };
    svgElement("text", { ...at, class: "share" }, this.overlay, text);
  }

  middle(cell) {
    return [cell % this.side, Math.floor(cell / this.side)].map((k) => (k + 0.5) * UNIT);
  }

  // The cell under a pointer event, or null.
  cellAt(event) {
    const group = event.target.closest?.("[data-cell]");
    return group ? Number(group.dataset.cell) : null;
  }
}
