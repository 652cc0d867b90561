"""Play one match and write its record."""

import time
from collections import Counter

import torch

from royale import rng
from royale.evidence import match
from royale.evidence.elo import pair_counts
from royale.evidence.gate import record_text
from royale.evidence.sequential import Sprt
from royale.evidence.sequential import play as play_sequentially
from royale.files import expect_sha256, sha256, write_json
from royale.project import roster
from royale.run.job import job


def about(entry, weights, player):
    """What the record says of a player."""
    return {
        "kind": entry["kind"],
        "sha256": sha256(weights) if weights else None,
        "command": entry.get("command"),
        "faults": dict(sum(player.faults.values(), Counter()))
        if entry["kind"] == "external"
        else None,
    }


def main(snakemake, progress):
    params = snakemake.params
    torch.set_num_threads(snakemake.threads)
    # one weights file, or none for a player that is no network
    weights = {side: next(iter(snakemake.input.get(side)), None) for side in "ab"}
    for side, file in weights.items():
        if "sha256" in params.players[side]:
            expected = params.players[side]["sha256"]
            expect_sha256(
                file, expected, f"config.yaml (panel.members.{params.players[side]['name']})"
            )
    players = {
        side: roster.make_player(
            params.players[side],
            weights[side],
            params.game,
            params.settings,
            params.policy,
            params.device,
        )
        for side in "ab"
    }
    key = rng.key_of("match", snakemake.wildcards.match)
    began = time.monotonic()
    what = params.game, params.settings, list(players.values()), params.games, key
    sequential = None
    if params.sequential:
        played, sequential = play_sequentially(
            *what,
            Sprt(**params.sequential),
            lambda done, llr: progress.update(done, params.games, "games", f"LLR {llr:+.2f}"),
        )
    else:
        played = match.play(
            *what,
            lambda turn, running: progress.update(
                params.games - running, params.games, "games", f"turn {turn}"
            ),
        )
    win, loss, draw = match.count(played)
    record = {
        **{side: params.players[side]["name"] for side in "ab"},
        "game": params.game,
        "settings": dict(params.settings),
        "policy": params.policy,
        "mode": "sprt" if sequential else "fixed",
        "sequential": sequential,
        "key": key,
        "players": {
            side: about(params.players[side], weights[side], players[side]) for side in "ab"
        },
        "win": win,
        "loss": loss,
        "draw": draw,
        "pairs": pair_counts(played),
        "by_seat": {
            str(seat): list(match.count([game for game in played if game["seats"][seat] == 0]))
            for seat in (0, 1)
        },
        "turns_mean": sum(game["turns"] for game in played) / len(played),
        "seconds": round(time.monotonic() - began, 3),
        "games": played,
    }
    write_json(snakemake.output[0], record, "match")
    progress.say(f"W-L-D {record_text(record)}")
    if sequential:
        progress.say("{verdict}, LLR {llr:.2f}, {games_saved} games saved".format(**sequential))
    for side, found in record["players"].items():
        if found["faults"]:
            progress.say(f"faults of {record[side]}: {found['faults']}")


with job(snakemake, snakemake.wildcards.match) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
