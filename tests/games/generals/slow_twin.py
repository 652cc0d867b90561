"""A second, slow engine of the same rules, for comparison: one game, plain Python.

Written straight from the sections of the rules, with nothing kept between turns
but the board itself; every total, price and sight is worked out afresh.
"""

from __future__ import annotations

import math

UP, DOWN, LEFT, RIGHT = 0, 1, 2, 3
DELTA = {UP: (-1, 0), DOWN: (1, 0), LEFT: (0, -1), RIGHT: (0, 1)}


class Twin:
    """One game; `owner` and `army` are dicts keyed by (row, column)."""

    def __init__(self, owner, army, mountains, castles, generals, time=0, **rules):
        self.height, self.width = len(owner), len(owner[0])
        self.cells = [(r, c) for r in range(self.height) for c in range(self.width)]
        self.owner = {(r, c): int(owner[r][c]) for r, c in self.cells}
        self.army = {(r, c): int(army[r][c]) for r, c in self.cells}
        self.mountains = {x for x in self.cells if mountains[x[0]][x[1]]}
        self.castles = {x for x in self.cells if castles[x[0]][x[1]]}
        self.generals = [tuple(int(v) for v in g) for g in generals]
        self.time = int(time)
        self.max_turns = rules.get("max_turns", 1200)
        self.deathtouch = rules.get("deathtouch_turn", 800)
        self.base = rules.get("build_base", 35)
        self.surcharge = rules.get("build_surcharge", 14)
        cap = rules.get("castle_cap")
        self.cap = math.inf if cap is None else cap
        self.winner, self.done, self.truncated = -1, False, False
        self.builds = [0, 0]
        self.memory = [{}, {}]
        self.ordered = [None, None]

    # --- what follows from the board

    def land(self, seat):
        return sum(o == seat for o in self.owner.values())

    def total(self, seat):
        return sum(self.army[x] for x in self.cells if self.owner[x] == seat)

    def castles_of(self, seat):
        return sum(self.owner[x] == seat for x in self.castles)

    def structures(self):
        return self.castles | set(self.generals)

    def price(self, seat, cell):
        extra = 0
        for s in self.structures():
            if self.owner[s] == seat:
                apart = abs(s[0] - cell[0]) + abs(s[1] - cell[1])
                extra += max(0, self.surcharge - 2 * apart)
        return self.base + extra

    def can_build(self, seat, cell):
        return (
            cell in self.owner
            and self.owner[cell] == seat
            and cell not in self.structures()
            and self.army[cell] >= self.price(seat, cell)
            and self.castles_of(seat) < self.cap
        )

    def visible(self, seat, cell):
        r, c = cell
        near = [(r + i, c + j) for i in (-1, 0, 1) for j in (-1, 0, 1)]
        return any(self.owner.get(x) == seat for x in near)

    # --- a turn

    @staticmethod
    def parse(action):
        """kind, source, target, split of a raw action, out-of-range values included."""
        kind, r, c, d, split = (int(v) for v in action)
        if d > 3:
            d = RIGHT
        elif d < -4:
            d = UP
        elif d < 0:
            d = [UP, DOWN, LEFT, RIGHT][d]
        return kind, (r, c), (r + DELTA[d][0], c + DELTA[d][1]), split

    def possible(self, seat, source, target):
        return (
            self.owner.get(source) == seat
            and self.army[source] >= 2
            and target in self.owner
            and target not in self.mountains
        )

    def step(self, actions):
        """Play the raw actions of both seats; nothing happens in a finished game."""
        if self.done:
            return
        orders = [self.parse(a) for a in actions]
        self.ordered = [None, None]
        valid = [k == 2 and self.can_build(s, x) for s, (k, x, _, _) in enumerate(orders)]
        prices = [self.price(s, orders[s][1]) if valid[s] else 0 for s in (0, 1)]
        for s in (0, 1):
            if valid[s]:
                cell = orders[s][1]
                self.army[cell] -= prices[s]
                self.castles.add(cell)
                self.builds[s] += 1
                self.ordered[s] = (cell, cell)
        moving = [k not in (1, 2) for k, *_ in orders]
        for s in (0, 1):
            if moving[s] and self.possible(s, orders[s][1], orders[s][2]):
                self.ordered[s] = (orders[s][1], orders[s][2])
        before = self.time
        captures, touches = [], []
        for s in self.sequence(orders):
            kind, source, target, split = orders[s]
            if not moving[s] or not self.possible(s, source, target):
                continue
            if kind == 0 and target == self.generals[1 - s]:
                touches.append(s)
            if self.advance(s, source, target, split) and target == self.generals[1 - s]:
                captures.append(s)
        self.time += 1
        self.finish(captures, touches if before >= self.deathtouch else [])

    def sequence(self, orders):
        """Who moves first: by chase, reinforcement, smaller army, seat 0."""
        ranks = []
        for s in (0, 1):
            _, source, target, _ = orders[s]
            chase = target == orders[1 - s][1]
            reinforce = self.owner.get(target) == s
            ranks.append((not chase, not reinforce, self.army.get(source, 0), s))
        return [0, 1] if ranks[0] < ranks[1] else [1, 0]

    def advance(self, seat, source, target, split):
        """Carry out a possible move; True if the target changed hands."""
        amount = self.army[source] // 2 if split == 1 else self.army[source] - 1
        self.army[source] -= amount
        if self.owner[target] == seat:
            self.army[target] += amount
            return False
        left = self.army[target] - amount
        self.army[target] = abs(left)
        if left < 0:
            self.owner[target] = seat
        return left < 0

    def give_all(self, winner):
        for x in self.cells:
            if self.owner[x] == 1 - winner:
                self.owner[x] = winner

    def finish(self, captures, touches):
        """Growth, and how the turn ends (section 9)."""
        if captures:
            self.give_all(captures[-1])
        else:
            for x in self.cells:
                if self.owner[x] >= 0:
                    if self.time % 2 == 0 and x in self.structures():
                        self.army[x] += 1
                    if self.time % 50 == 0:
                        self.army[x] += 1
        if len(captures) == 2 or len(touches) == 2:
            self.done = True
        elif touches:
            self.done, self.winner = True, touches[0]
            self.give_all(touches[0])
        elif captures:
            self.done, self.winner = True, captures[0]
        elif self.time >= self.max_turns:
            self.done = self.truncated = True

    # --- what a seat sees

    def legal(self, seat):
        """The legal actions: (plane, row, column) triples and "pass"."""
        moves = set()
        for x in self.cells:
            for d, (i, j) in DELTA.items():
                if self.possible(seat, x, (x[0] + i, x[1] + j)):
                    moves |= {(d, *x), (4 + d, *x)}
            if self.can_build(seat, x):
                moves.add((8, *x))
        return moves | {"pass"}

    def look(self, seat):
        """Take in the present turn, before `planes`; once a turn."""
        memory = self.memory[seat]
        if memory.get("time") == self.time:
            return
        memory["time"] = self.time
        moved = self.ordered[seat]
        for x in self.cells:
            was = memory.get(x, {"age": 255, "owner": None, "army": 0})
            now = self.visible(seat, x)
            item = dict(was)
            item["change"] = self.army[x] - was["army"] if now and was["age"] == 0 else 0
            own_before = was["owner"] == seat and was["age"] == 0
            item["gained"] = self.owner[x] == seat and not own_before
            item["lost"] = own_before and self.owner[x] != seat
            item["source"] = moved is not None and moved[0] == x
            item["target"] = moved is not None and moved[1] == x
            if now:
                item.update(age=0, owner=self.owner[x], army=self.army[x])
            elif was["age"] < 254:
                item["age"] = was["age"] + 1
            memory[x] = item

    def planes(self, seat, side):
        """Every plane as a dict name -> function of a cell; side: of the canvas."""
        enemy = 1 - seat
        memory = self.memory[seat]

        def log(x):
            return math.copysign(math.log(1 + abs(x)) / 5, x) if x else 0.0

        out = {}
        for r in range(side):
            for c in range(side):
                out[r, c] = self.cell_planes(seat, (r, c), memory, log)
        totals = {
            "own_land": self.land(seat) / (self.height * self.width),
            "opponent_land": self.land(enemy) / (self.height * self.width),
            "own_total": math.log(1 + self.total(seat)) / 8,
            "opponent_total": math.log(1 + self.total(enemy)) / 8,
            "time": self.time / self.max_turns,
            "phase_2": self.time % 2,
            "phase_50": self.time % 50 / 50,
            "deathtouch": float(self.time >= self.deathtouch),
            "deathtouch_in": max(self.deathtouch - self.time, 0) / self.deathtouch,
            "castles": math.log(1 + self.castles_of(seat)) / 3,
        }
        for planes in out.values():
            planes.update(totals)
        return out

    def cell_planes(self, seat, x, memory, log):
        """The planes of one cell that are not the same everywhere."""
        inside = x in self.owner
        known = inside and self.visible(seat, x)
        padding_seen = not inside and self.visible(seat, x)
        mountain = not inside or x in self.mountains
        sight = known or padding_seen
        holder = self.owner.get(x, -1)
        own, enemy = known and holder == seat, known and holder == 1 - seat
        castle, general = x in self.castles, x in self.generals
        past = memory.get(x)
        if past is None:  # padding, of which the memory is the same as of a mountain
            past = self.padding_memory(seat, x)
        army = self.army.get(x, 0)
        may_move = any(
            self.possible(seat, x, (x[0] + i, x[1] + j)) for i, j in DELTA.values() if inside
        )
        return {
            "inside": inside,
            "visible": sight,
            "own": own,
            "opponent": enemy,
            "mountain": sight and mountain,
            "castle": known and castle,
            "general": known and general,
            "structure_in_fog": not sight and (mountain or castle),
            "own_castle": own and castle,
            "opponent_castle": enemy and castle,
            "own_general": own and general,
            "opponent_general": enemy and general,
            "neutral": known and holder == -1 and not mountain,
            "fog": not sight and not mountain and not castle,
            "can_move": may_move,
            "can_build": self.can_build(seat, x),
            "own_army": log(army) if own else 0.0,
            "opponent_army": log(army) if known and not own else 0.0,
            "own_army_linear": min(army, 50) / 50 if own else 0.0,
            "opponent_army_linear": min(army, 50) / 50 if known and not own else 0.0,
            "price": min(self.price(seat, x), 255) / 50,
            "known_mountain": mountain,
            "castle_in_fog": castle and not known,
            "hideout": inside and not mountain and past["age"] == 255,
            "general_known": general and past["age"] < 255 and not own,
            "seen": past["age"] < 255,
            "last_opponent": past["owner"] == 1 - seat,
            "last_own": past["owner"] == seat,
            "gained": past["gained"],
            "lost": past["lost"],
            "source": past["source"],
            "target": past["target"],
            "last_army": 0.0 if sight else log(past["army"]),
            "age": past["age"] / 255,
            "change": log(max(-127, min(127, past["change"]))),
        }

    def padding_memory(self, seat, x):
        """Memory of a padding cell: only its age matters."""
        ages = self.memory[seat].setdefault("padding", {})
        age, time = ages.get(x, (255, -1))
        if time != self.time:
            if self.visible(seat, x):
                age = 0
            elif age < 254:
                age += 1
            ages[x] = (age, self.time)
        quiet = dict.fromkeys(("gained", "lost", "source", "target"), False)
        return {"age": age, "owner": None, "army": 0, "change": 0, **quiet}
