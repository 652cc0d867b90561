// A small line chart in an SVG; lines differ in dashes as well as in colour.

import { svgElement } from "./svg.js";

const [WIDTH, HEIGHT] = [320, 120];
const EDGE = { left: 34, right: 6, top: 8, bottom: 18 };

function tidy(value) {
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)}M`;
  if (size >= 1e4) return `${+(value / 1e3).toPrecision(3)}k`;
  if (size < 0.001) return value.toExponential(0);
  return String(+value.toPrecision(size >= 1000 ? 4 : size >= 0.1 ? 3 : 2));
}

// lines: [{ points: [[x, y], ...], style }]; y null is a gap. options: { label, x: [low, high],
// y: [low, high], at }: ends that are not given are those of the points; `at` draws a cursor.
export function drawChart(svg, lines, { label, x = [], y = [], at = null }) {
  svg.setAttribute("viewBox", `0 0 ${WIDTH} ${HEIGHT}`);
  svg.setAttribute("role", "img");
  svg.replaceChildren();
  const all = lines.flatMap((line) => line.points.filter(([, value]) => value !== null));
  const range = ([low, high], k) => {
    const values = all.map((point) => point[k]);
    const least = low ?? (values.length ? Math.min(...values) : 0);
    const most = high ?? (values.length ? Math.max(...values) : 1);
    return most > least ? [least, most] : [least, least + (Math.abs(least) || 1)];
  };
  const [xs, ys] = [range(x, 0), range(y, 1)];
  const across = WIDTH - EDGE.left - EDGE.right;
  const up = HEIGHT - EDGE.top - EDGE.bottom;
  const px = (value) => EDGE.left + ((value - xs[0]) / (xs[1] - xs[0])) * across;
  const py = (value) => EDGE.top + (1 - (value - ys[0]) / (ys[1] - ys[0])) * up;
  const levels = ys[0] < 0 && ys[1] > 0 ? [ys[0], 0, ys[1]] : ys;
  for (const level of levels) {
    svgElement("path", { d: `M${EDGE.left} ${py(level)}h${across}`, class: "grid" }, svg);
    svgElement("text", { x: EDGE.left - 4, y: py(level) + 3, class: "tick y" }, svg, tidy(level));
  }
  for (const [k, value] of xs.entries()) {
    const place = { x: px(value), y: HEIGHT - 5, class: k ? "tick end" : "tick" };
    svgElement("text", place, svg, tidy(value));
  }
  for (const { points, style } of lines) {
    let pen = "M";
    let d = "";
    for (const [a, b] of points) {
      if (b === null) {
        pen = "M";
        continue;
      }
      const inside = Math.min(Math.max(b, ys[0]), ys[1]);
      d += `${pen}${px(a).toFixed(1)} ${py(inside).toFixed(1)}`;
      pen = "L";
    }
    svgElement("path", { d, class: `line ${style}` }, svg);
  }
  if (at !== null) {
    svgElement("path", { d: `M${px(at)} ${EDGE.top}v${up}`, class: "cursor" }, svg);
  }
  const last = lines.map(({ points }) => points.at(-1)?.[1] ?? null);
  const now = last.filter((value) => value !== null).map(tidy).join(" and ");
  svg.setAttribute("aria-label", `${label}${now ? `; last ${now}` : ""}`);
}
