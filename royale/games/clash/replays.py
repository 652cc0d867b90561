"""A battle's record, simulated again from it alone, and what the page shows of it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from royale.errors import RoyaleError
from royale.games.clash import decks, picture
from royale.games.clash.engine import OK, battle, cards, embedded, engine, unit_types
from royale.games.clash.layout import HEIGHT, SLOTS, SUBTILES, WIDTH
from royale.games.clash.settings import SHUFFLES, Settings
from royale.games.protocol import Game

PART = SUBTILES // 10  # places are shown to a tenth of a tile
TOWERS = {2: "King", 3: "Princess"}
MOVING = (0, 1)  # motions of spells on their way to where they are aimed at
# Of an entity's row, and of a spell's.
UID, TEAM, KIND, CARD, X, Y, HP, MAX_HP, RADIUS, FLYING, DEPLOY, STUN = 0, 1, 2, 3, *range(5, 13)
STATUS, UNIT = 20, 27
AIM_X, AIM_Y = 5, 6
DEPLOYING, STUNNED, UNSEEN = 1, 2, 4  # of what is shown of a unit


class ClashReplays:
    """See `royale.games.protocol.Replays`."""

    scripts = ("svg", "playback", "arena", "battle")

    def __init__(self, game: Game) -> None:
        self._game = game

    def record(
        self, settings: Mapping[str, Any], seed: int, actions: Sequence[Sequence[int]]
    ) -> dict[str, Any]:
        """Play the actions (turns, 2) as a match does; see `replay.schema.yaml`."""
        numbers = Settings.read(settings)
        batch = self._game.make(1, {**settings, "workers": 0}, self._game.encoders[0])
        battles, made = batch.battles, batch.battles.engines[0]
        number, dealt, _, start, _, towers, _ = battles.beginning(0, np.uint64(seed))
        batch.reset(np.array([0]), np.array([seed], np.uint64))
        hands = [[cards()[c].name for c in side["hand"]] for side in _state(made)["players"]]
        states, commands = [_digest(made)], []
        for turn, pair in enumerate(actions):
            for seat, action in enumerate(pair):
                command = battles.command(0, seat, int(action))
                if command:
                    commands.append([turn, *command])
            batch.step(np.array([pair], np.int32))
            states.append(_digest(made))
        return {
            "engine": running(),
            "seed": number,
            "decks": [[cards()[card].name for card in side] for side in dealt],
            "shuffle": numbers.shuffle,
            "hands": hands,
            "start_tick": start,
            "command_delay_ticks": numbers.command_delay_ticks,
            "tower_hp": towers,
            "calibration": numbers.overrides(),
            "decision_ticks": battles.ticks,
            "turns": len(actions),
            "commands": commands,
            "crowns": [player["crowns"] for player in _state(made)["players"]],
            "states": states,
        }

    def shown(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """Simulate the battle from its record and tell what there is to see; see the protocol.

        Places are tenths of a tile from Blue's back left corner, elixir is in tenths.
        """
        units: dict[int, int] = {}  # place in `things` by the engine's number
        things: list[list[Any]] = []
        frames, plays, known = [], [], set()
        for turn, state, said in simulate(record):
            flat = [_thing(row, units, things) for row in state["entities"]]
            frames.append(
                {
                    "tick": state["tick"],
                    "rate": state["elixir_rate"],
                    "overtime": int(state["overtime"]),
                    "sides": [_side(player) for player in state["players"]],
                    "units": [number for row in flat for number in row],
                    "spells": [_spell(row) for row in state["spells"]],
                    "shots": [
                        [row[0], row[1] // PART, row[2] // PART] for row in state["projectiles"]
                    ],
                    "pending": [
                        [side, row[1], row[2] // PART, row[3] // PART]
                        for side, player in enumerate(state["players"])
                        for row in player["pending"]
                        if row[0] == 0
                    ],
                }
            )
            plays += [[turn, *play] for play in said]
            known |= {card for player in state["players"] for card in player["deck"]}
            known |= {row[1] for row in state["spells"]}
        last = state
        return {
            "size": [WIDTH, HEIGHT],
            "tick_ms": last["tick_ms"],
            "regular_ticks": last["regular_ticks"],
            "overtime_ticks": last["overtime_ticks"],
            "cards": {
                str(card): [cards()[card].name, cards()[card].elixir, _radius(card)]
                for card in sorted(known - {-1})
            },
            "things": things,
            "frames": frames,
            "plays": plays,
            "seed": str(record["seed"]),
            "turns": record["turns"],
            "winner": last["winner"] if last["winner"] in (0, 1) else None,
            "truncated": not last["game_over"],
            "state": record["states"][-1],
        }

    def picture(self, shown: Mapping[str, Any], names: Sequence[str]) -> str:
        """The last position as SVG; names of the players of Blue and Red."""
        return picture.draw(shown, names)


def running() -> dict[str, str]:
    """The engine and the card table that battles are played by here."""
    made = battle()
    return {
        "royalesim": engine().__version__,
        "card_table": made.card_table(),
        "card_table_fnv1a64": made.card_table_fnv1a64(),
    }


Said = list[list[Any]]  # of a decision: tick, side, card or ability, x, y, why it was refused


def simulate(record: Mapping[str, Any]) -> Iterator[tuple[int, dict[str, Any], Said]]:
    """Play a record again: the state after each decision, the first before any, and the plays.

    From the record alone, on the bare engine. RoyaleError if it is of another engine, or at
    the first decision after which the state is not the recorded one.
    """
    for name, found in running().items():
        if record["engine"][name] != found:
            raise RoyaleError(
                f"recorded with {name} {record['engine'][name]}, here is {found}; another engine "
                "plays another battle"
            )
    if len(record["states"]) != record["turns"] + 1:
        raise RoyaleError(f"{len(record['states'])} states of {record['turns']} decisions")
    commands: list[list[tuple[int, int, int, int]]] = [[] for _ in range(record["turns"])]
    for turn, *command in record["commands"]:
        if turn >= record["turns"]:
            raise RoyaleError(f"a play at decision {turn} of {record['turns']}")
        commands[turn].append(tuple(command))
    try:
        dealt = [list(decks.card_ids(side, "decks")) for side in record["decks"]]
    except ValueError as error:
        raise RoyaleError(str(error)) from None
    made = battle(record["command_delay_ticks"], dict(record["calibration"]))
    made.reset(
        record["seed"],
        dealt,
        SHUFFLES[record["shuffle"]],
        record["start_tick"],
        None,
        record["tower_hp"],
        [],
    )
    state = _state(made)
    hands = [[cards()[c].name for c in side["hand"]] for side in state["players"]]
    if hands != record["hands"]:
        raise RoyaleError(f"the first hands are {hands}, recorded {record['hands']}")
    _expect(made, record, 0)
    yield 0, state, []
    for turn, chosen in enumerate(commands):
        answers = made.step(chosen, record["decision_ticks"])
        said = [_play(command, answer) for command, answer in zip(chosen, answers, strict=True)]
        _expect(made, record, turn + 1)
        state = _state(made)
        yield turn + 1, state, said + _refused(made)
    crowns = [player["crowns"] for player in state["players"]]
    if crowns != record["crowns"]:
        raise RoyaleError(f"the crowns are {crowns}, recorded {record['crowns']}")


def _expect(made: Any, record: Mapping[str, Any], turn: int) -> None:
    found, told = _digest(made), record["states"][turn]
    if found != told:
        raise RoyaleError(
            f"does not play again as recorded: after decision {turn} the state hash is {found}, "
            f"recorded {told}; something in the record was altered"
        )


def _digest(made: Any) -> str:
    return f"{made.state_hash():016x}"


def _state(made: Any) -> dict[str, Any]:
    return json.loads(made.state_json())


def _play(command: Sequence[int], answer: Sequence[int]) -> list[Any]:
    (side, slot, *_), (card, reason, tick, x, y) = command, answer[:5]
    what = card if slot < SLOTS else SLOTS - 1 - slot  # abilities are -1, -2, -3
    why = "" if reason == OK else engine().DEPLOY_REASONS[reason]
    return [tick, side, what, x // PART, y // PART, why]


def _refused(made: Any) -> Said:
    """Plays whose delay is over and that the engine then refused."""
    return [
        [
            tick,
            side,
            what if kind == "deploy" else SLOTS - 1 - what,
            -1,
            -1,
            engine().DEPLOY_REASONS[reason],
        ]
        for tick, side, kind, what, reason in made.step_commands_run()
        if reason != OK
    ]


def _thing(row: Sequence[Any], units: dict[int, int], things: list[list[Any]]) -> list[int]:
    """Of an entity: place in `things`, x, y, hitpoints, flags."""
    if row[UID] not in units:
        units[row[UID]] = len(things)
        name = TOWERS.get(row[KIND]) or unit_types()[row[UNIT]]
        radius = round(row[RADIUS] / PART)
        things.append([row[TEAM], row[KIND], name, row[MAX_HP], radius, int(row[FLYING])])
    flags = (
        DEPLOYING * (row[DEPLOY] > 0) | STUNNED * (row[STUN] > 0) | UNSEEN * (row[STATUS] & 7 > 0)
    )
    return [units[row[UID]], row[X] // PART, row[Y] // PART, row[HP], flags]


def _side(player: Mapping[str, Any]) -> list[int]:
    """Of a player: tenths of elixir, crowns, the next card, the hand."""
    return [player["elixir_milli"] // 100, player["crowns"], player["next_card"], *player["hand"]]


def _spell(row: Sequence[Any]) -> list[int]:
    """Of a spell: side, card, whether it is on its way, x, y, and where it is aimed at."""
    places = [part // PART for part in (row[3], row[4], row[AIM_X], row[AIM_Y])]
    return [row[0], row[1], int(row[2] in MOVING), *places]


def _radius(card: int) -> int:
    """Of a spell's circle in tenths of a tile, by the card table; a tile where it says none."""
    row = next(row for row in embedded()["cards"] if row["name"] == cards()[card].name)
    parts = (row.get("spell") or {}, row.get("projectile") or {})
    radius = [part.get("radius_milli") for part in parts] + [row.get("area_damage_radius_milli")]
    return next((value // 100 for value in radius if value), 10)
