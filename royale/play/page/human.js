// A person's side of a game: the selected cell, and the orders that wait for their turn.

import { toAction } from "./policy.js";
import { BUILD, MOUNTAIN, MOVE, PASS, PASS_ORDER, STEPS } from "./rules.js";

const ARROWS = { ArrowUp: 0, ArrowDown: 1, ArrowLeft: 2, ArrowRight: 3 };

export class Human {
  // seat: 0, 1, or null for one who only looks; ordered(): called when an order was given.
  constructor(match, seat, ordered) {
    Object.assign(this, { match, seat, ordered });
    this.queue = [];
    this.half = false; // the next move takes half
    this.selected = seat === null ? null : match.game.generals[seat];
  }

  get plays() {
    return this.seat !== null && !this.match.game.over;
  }

  place(cell) {
    const { side } = this.match.game;
    return [Math.floor(cell / side), cell % side];
  }

  // The cell beside one, or null beyond the board.
  beside(cell, direction) {
    const { side, height, width } = this.match.game;
    const [row, column] = this.place(cell).map((k, axis) => k + STEPS[direction][axis]);
    const inside = row >= 0 && row < height && column >= 0 && column < width;
    return inside ? row * side + column : null;
  }

  order(kind, row = 0, column = 0, direction = 0, split = 0) {
    if (!this.plays) return;
    this.queue.push([kind, row, column, direction, split]);
    this.ordered();
  }

  pass() {
    this.order(PASS);
  }

  build() {
    if (this.selected !== null) this.order(BUILD, ...this.place(this.selected));
  }

  move(cell, direction) {
    const target = this.beside(cell, direction);
    // Every mountain is known: the first frame of a game gives them all away.
    if (target === null || this.match.game.kind[target] & MOUNTAIN) return;
    const split = this.half ? 1 : 0;
    this.half = false;
    this.selected = target;
    this.order(MOVE, ...this.place(cell), direction, split);
  }

  // Whether an army of the person stands at a cell, or will when the orders are done.
  holds(cell) {
    const { game } = this.match;
    const ends = this.queue
      .filter(([kind]) => kind === MOVE)
      .map(([, row, column, direction]) => this.beside(game.cell(row, column), direction));
    return game.owner[cell] === this.seat || ends.includes(cell);
  }

  // A click or tap: a move if the cell is beside the selected army, else a selection.
  pick(cell) {
    const near = this.selected === null ? -1
      : STEPS.findIndex((_, direction) => this.beside(this.selected, direction) === cell);
    if (this.plays && near >= 0 && this.holds(this.selected)) this.move(this.selected, near);
    else this.selected = cell === this.selected ? null : cell;
  }

  moveSelection(direction) {
    const from = this.selected ?? this.home();
    this.selected = this.beside(from, direction) ?? from;
  }

  home() {
    return this.match.game.generals[this.seat ?? 0];
  }

  // A key press; true if it meant something.
  press(key, shift) {
    const direction = ARROWS[key];
    if (direction !== undefined) {
      if (!shift && this.plays && this.selected !== null && this.holds(this.selected)) {
        this.move(this.selected, direction);
      } else this.moveSelection(direction);
      return true;
    }
    const actions = {
      h: () => (this.half = !this.half),
      b: () => this.build(),
      p: () => this.pass(),
      g: () => (this.selected = this.home()),
      escape: () => (this.queue = []),
    };
    actions[key.toLowerCase()]?.();
    return key.toLowerCase() in actions;
  }

  // The action of this turn. Orders that are not legal any more are dropped; without one, a pass.
  next() {
    while (this.queue.length && !this.match.isLegal(this.seat, this.queue[0])) this.queue.shift();
    return toAction(this.queue.shift() ?? PASS_ORDER, this.match.game.side);
  }

  // Price of a castle on the selected cell, or null where none can be built; and if it can be paid.
  offer() {
    const { game } = this.match;
    const cell = this.selected;
    if (!this.plays || cell === null || game.owner[cell] !== this.seat) return { price: null };
    if (!game.mayBuild(this.seat) || !game.isPlain(cell)) return { price: null };
    const legal = this.match.isLegal(this.seat, [BUILD, ...this.place(cell)]);
    return { price: game.price(this.seat, cell), legal };
  }

  // What the board shows of all this.
  marks() {
    const { game } = this.match;
    const found = this.queue
      .filter(([kind]) => kind !== PASS)
      .map(([kind, row, column, direction, split]) => {
        const cell = game.cell(row, column);
        return kind === BUILD ? { cell, kind: "build" }
          : { cell, direction, weight: 0, kind: split ? "half" : "" };
      });
    if (this.selected !== null) found.push({ cell: this.selected, kind: "selected" });
    return found;
  }
}
