// One game of Generals, turn by turn, as royale/games/generals/kernels.py plays it.
// Cells are those of the square canvas that boards are padded to, in row order.

export const MOUNTAIN = 1;
export const CASTLE = 2;
export const GENERAL = 4;
export const INSIDE = 8;
export const STRUCTURE = CASTLE | GENERAL;
export const [MOVE, PASS, BUILD] = [0, 1, 2];
export const PASS_ORDER = [PASS, 0, 0, 0, 0];
export const STEPS = [[-1, 0], [1, 0], [0, -1], [0, 1]]; // up, down, left, right

export class Game {
  // settings: the game's, with `side`; board: as maps.deal gives it.
  constructor(settings, board) {
    const { height, width, mountains, generals } = board;
    const side = settings.side;
    this.settings = settings;
    Object.assign(this, { side, height, width });
    this.owner = new Int8Array(side * side).fill(-1);
    this.army = new Int32Array(side * side);
    this.kind = new Uint8Array(side * side).fill(MOUNTAIN);
    for (let i = 0; i < height * width; i++) {
      const cell = this.cell(Math.floor(i / width), i % width);
      this.kind[cell] = INSIDE | (mountains[i] ? MOUNTAIN : 0);
    }
    this.generals = generals.map((i) => this.cell(Math.floor(i / width), i % width));
    this.generals.forEach((cell, seat) => {
      this.owner[cell] = seat;
      this.army[cell] = 1;
      this.kind[cell] |= GENERAL;
    });
    this.time = 0;
    this.winner = -1; // seat, or -1 for a draw or a game that runs
    this.over = this.truncated = false;
    this.builds = [0, 0];
    this.source = [-1, -1]; // of the last order carried out, a seat
    this.target = [-1, -1];
    this.count();
  }

  cell(row, column) {
    return row * this.side + column;
  }

  // Totals of both seats, from the cells.
  count() {
    this.land = [0, 0];
    this.total = [0, 0];
    this.castles = [0, 0];
    for (let i = 0; i < this.owner.length; i++) {
      const seat = this.owner[i];
      if (seat < 0) continue;
      this.land[seat]++;
      this.total[seat] += this.army[i];
      if (this.kind[i] & CASTLE) this.castles[seat]++;
    }
  }

  // What a castle at a cell costs a seat: more near its own structures (spec section 8).
  price(seat, cell) {
    const { side } = this;
    let price = this.settings.build_base;
    for (let i = 0; i < this.owner.length; i++) {
      if (this.owner[i] !== seat || !(this.kind[i] & STRUCTURE)) continue;
      const rows = Math.abs(Math.floor(i / side) - Math.floor(cell / side));
      const columns = Math.abs((i % side) - (cell % side));
      price += Math.max(0, this.settings.build_surcharge - 2 * (rows + columns));
    }
    return price;
  }

  mayBuild(seat) {
    const cap = this.settings.castle_cap;
    return cap === null || this.castles[seat] < cap;
  }

  // No structure and no mountain.
  isPlain(cell) {
    return !(this.kind[cell] & (MOUNTAIN | STRUCTURE));
  }

  onBoard(row, column) {
    return row >= 0 && row < this.side && column >= 0 && column < this.side;
  }

  build(seat, [, row, column]) {
    if (!this.onBoard(row, column) || !this.mayBuild(seat)) return;
    const cell = this.cell(row, column);
    if (this.owner[cell] !== seat || this.kind[cell] & STRUCTURE) return;
    const price = this.price(seat, cell);
    if (this.army[cell] < price) return;
    this.army[cell] -= price;
    this.kind[cell] |= CASTLE;
    this.builds[seat]++;
    this.castles[seat]++;
    this.source[seat] = this.target[seat] = cell;
  }

  // Source and target of a move, or null if it is void.
  aim(seat, [kind, row, column, direction]) {
    if (kind === PASS || kind === BUILD || !this.onBoard(row, column)) return null;
    const source = this.cell(row, column);
    if (this.owner[source] !== seat || this.army[source] < 2) return null;
    // Directions out of range as the reference runs them (spec section 11).
    if (direction < 0) direction = Math.max(direction + 4, 0);
    const [down, right] = STEPS[Math.min(direction, 3)];
    if (!this.onBoard(row + down, column + right)) return null;
    const target = this.cell(row + down, column + right);
    return this.kind[target] & MOUNTAIN ? null : { source, target };
  }

  // True if the target changed hands.
  move(seat, { source, target }, split) {
    const { army, owner } = this;
    const amount = split === 1 ? army[source] >> 1 : army[source] - 1;
    army[source] -= amount;
    if (owner[target] === seat) {
      army[target] += amount;
      return false;
    }
    const left = amount - army[target];
    army[target] = Math.abs(left);
    if (left <= 0) return false; // a tie leaves the cell to its holder, with 0
    owner[target] = seat;
    return true;
  }

  // The seat that moves first, both moves being valid (spec section 6).
  first(a, b) {
    const chase = [a.target === b.source, b.target === a.source];
    if (chase[0] !== chase[1]) return chase[0] ? 0 : 1;
    const own = [this.owner[a.target] === 0, this.owner[b.target] === 1];
    if (own[0] !== own[1]) return own[0] ? 0 : 1;
    return this.army[b.source] < this.army[a.source] ? 1 : 0;
  }

  grow() {
    const structures = this.time % 2 === 0;
    const land = this.time % 50 === 0;
    for (let i = 0; i < this.owner.length; i++) {
      if (this.owner[i] < 0) continue;
      if (structures && this.kind[i] & STRUCTURE) this.army[i]++;
      if (land) this.army[i]++;
    }
  }

  transfer(winner) {
    for (let i = 0; i < this.owner.length; i++) {
      if (this.owner[i] === 1 - winner) this.owner[i] = winner;
    }
  }

  // One turn (spec section 4). orders: [kind, row, column, direction, split] of each seat.
  step(orders) {
    if (this.over) return;
    this.source = [-1, -1];
    this.target = [-1, -1];
    orders.forEach((order, seat) => {
      if (order[0] === BUILD) this.build(seat, order);
    });
    const moves = orders.map((order, seat) => this.aim(seat, order));
    let first = 0;
    if (moves[0] && moves[1]) first = this.first(moves[0], moves[1]);
    else if (moves[1]) first = 1;
    const touched = [false, false];
    const captured = [false, false];
    let lastCapturer = -1;
    for (const seat of [first, 1 - first]) {
      const move = moves[seat];
      if (!move) continue;
      this.source[seat] = move.source;
      this.target[seat] = move.target;
      if (this.owner[move.source] !== seat || this.army[move.source] < 2) continue; // just taken
      const took = this.move(seat, move, orders[seat][4]);
      if (move.target !== this.generals[1 - seat]) continue;
      if (orders[seat][0] === MOVE) touched[seat] = true;
      if (took) {
        captured[seat] = true;
        lastCapturer = seat;
      }
    }
    const deathtouch = this.time >= this.settings.deathtouch_turn;
    this.time++;
    this.finish(touched, captured, lastCapturer, deathtouch);
    if (!this.over && this.time >= this.settings.max_turns) this.over = this.truncated = true;
    this.count();
  }

  // Growth, or the end of the game (spec sections 7 and 9).
  finish(touched, captured, lastCapturer, deathtouch) {
    const toucher = touched[0] === touched[1] ? -1 : touched[0] ? 0 : 1;
    const touch = deathtouch && (touched[0] || touched[1]);
    if (lastCapturer < 0) {
      this.grow();
      if (!touch) return;
      this.over = true;
      this.winner = toucher;
      if (toucher >= 0) this.transfer(toucher);
      return;
    }
    // No growth; after a mutual capture all cells are the second mover's.
    this.over = true;
    this.transfer(lastCapturer);
    const mutual = captured[0] && captured[1];
    this.winner = mutual ? -1 : lastCapturer;
    // The touch overrides the capture.
    if (!touch || mutual) return;
    this.winner = toucher;
    if (toucher >= 0) this.transfer(toucher);
  }
}
