// Draws a position of a battle: one SVG, Blue below, places in tenths of a tile.

import { svgElement } from "./svg.js";

const RIVER = [150, 170];
const BRIDGES = [25, 135];
const BRIDGE_WIDTH = 20;
const DEPLOYING = 1;
const STUNNED = 2;
const UNSEEN = 4;
const TOWER = 2; // and greater kinds

// MegaMinion -> Mega Minion
export function words(name) {
  return name.replaceAll("_", " ").replace(/([a-z])([A-Z])/g, "$1 $2");
}

// Two letters for a name.
export function initials(name) {
  const capitals = name.match(/[A-Z]/g) ?? [];
  return capitals.length > 1 ? capitals.slice(0, 2).join("") : name.slice(0, 2);
}

// The rows of a list of numbers.
function* rowsOf(flat, length) {
  for (let k = 0; k < flat.length; k += length) yield flat.slice(k, k + length);
}

export class Arena {
  constructor(svg, record) {
    const [width, height] = record.size.map((tiles) => 10 * tiles);
    Object.assign(this, { svg, record, width, height });
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.style.setProperty("--shape", width / height);
    svg.replaceChildren();
    svgElement("rect", { width, height, class: "field" }, svg);
    for (let x = 10; x < width; x += 10) {
      svgElement("path", { d: `M${x} 0V${height}`, class: "grid" }, svg);
    }
    for (let y = 10; y < height; y += 10) {
      svgElement("path", { d: `M0 ${y}H${width}`, class: "grid" }, svg);
    }
    const river = { y: height - RIVER[1], height: RIVER[1] - RIVER[0] };
    svgElement("rect", { ...river, width, class: "river" }, svg);
    for (const x of BRIDGES) {
      svgElement("rect", { ...river, x, width: BRIDGE_WIDTH, class: "bridge" }, svg);
    }
    this.layer = svgElement("g", {}, svg);
  }

  // Show a frame; plays: [side, x, y] of cards that are being played now.
  show(frame, plays) {
    const { layer } = this;
    layer.replaceChildren();
    for (const [side, card, moving, x, y, aimX, aimY] of frame.spells) {
      const [name, , radius] = this.record.cards[card] ?? ["", 0, 10];
      const ring = { cx: moving ? aimX : x, cy: this.up(moving ? aimY : y), r: radius };
      const look = `spell side${side} ${moving ? "aimed" : ""}`;
      const made = svgElement("circle", { ...ring, class: look }, layer);
      svgElement("title", {}, made, words(name));
      if (moving) {
        svgElement("circle", { cx: x, cy: this.up(y), r: 3, class: `shot side${side}` }, layer);
      }
    }
    for (const row of rowsOf(frame.units, 5)) this.unit(row);
    for (const [side, x, y] of frame.shots) {
      svgElement("circle", { cx: x, cy: this.up(y), r: 1.4, class: `shot side${side}` }, layer);
    }
    for (const [side, card, x, y] of frame.pending) {
      const name = this.record.cards[card]?.[0] ?? "?";
      const at = { cx: x, cy: this.up(y), r: 6 };
      const made = svgElement("circle", { ...at, class: `pending side${side}` }, layer);
      svgElement("title", {}, made, `${words(name)}, not landed yet`);
      svgElement("text", { x, y: this.up(y), class: `side${side} plain` }, layer, initials(name));
    }
    for (const [side, x, y] of plays) {
      svgElement("circle", { cx: x, cy: this.up(y), r: 9, class: `played side${side}` }, layer);
    }
  }

  unit([thing, x, height, hp, flags]) {
    const [side, kind, name, most, size, flying] = this.record.things[thing];
    const y = this.up(height);
    const r = Math.max(size, 5);
    const states = [
      flags & DEPLOYING ? "deploying" : "",
      flags & STUNNED ? "stunned" : "",
      flags & UNSEEN ? "unseen" : "",
      flying ? "flying" : "",
    ];
    const group = svgElement("g", { class: `unit side${side} ${states.join(" ")}` }, this.layer);
    const said = `${words(name)}, ${hp} of ${most} hitpoints ${states.filter(Boolean).join(", ")}`;
    svgElement("title", {}, group, said);
    if (kind) {
      const box = { x: x - r, y: y - r, width: 2 * r, height: 2 * r, rx: 2 };
      svgElement("rect", { ...box, class: "body" }, group);
    } else {
      svgElement("circle", { cx: x, cy: y, r, class: "body" }, group);
    }
    const share = most > 0 ? Math.min(1, hp / most) : 1;
    const bar = { x: x - r, y: y - r - 2.6, height: 1.8 };
    svgElement("rect", { ...bar, width: 2 * r, class: "bar" }, group);
    svgElement("rect", { ...bar, width: 2 * r * share, class: "bar full" }, group);
    svgElement("text", { x, y: kind >= TOWER ? y - 2 : y }, group, initials(name));
    if (kind >= TOWER) svgElement("text", { x, y: y + 6, class: "hp" }, group, String(hp));
  }

  up(y) {
    return this.height - y;
  }
}
