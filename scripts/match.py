"""Play one match and write its record."""

import time

import torch

from royale import games, rng
from royale.evidence import match
from royale.files import sha256, write_json
from royale.job import job
from royale.learn.player import NetworkPlayer


def main(snakemake, progress):
    params = snakemake.params
    names = dict(zip("ab", snakemake.wildcards.match.split("-vs-"), strict=True))
    # one weights file, or none for a scripted player
    files = {side: next(iter(snakemake.input.get(side)), None) for side in "ab"}
    torch.set_num_threads(snakemake.threads)
    game = games.load(params.game)
    players = [
        NetworkPlayer(files[side], params.policy == "greedy", params.device)
        if files[side]
        else game.scripted_player(names[side], game.spec(params.settings, game.encoders[0]))
        for side in "ab"
    ]
    key = rng.key_of("match", snakemake.wildcards.match)
    began = time.monotonic()
    played = match.play(
        params.game,
        params.settings,
        players,
        params.games,
        key,
        lambda turn, running: progress.update(
            params.games - running, params.games, "games", f"turn {turn}"
        ),
    )
    win, loss, draw = match.count(played)
    record = {
        **names,
        "game": params.game,
        "settings": dict(params.settings),
        "policy": params.policy,
        "key": key,
        "players": {
            side: {"kind": "network", "sha256": sha256(files[side])}
            if files[side]
            else {"kind": "scripted", "sha256": None}
            for side in "ab"
        },
        "win": win,
        "loss": loss,
        "draw": draw,
        "by_seat": {
            str(seat): list(match.count([game for game in played if game["seats"][seat] == 0]))
            for seat in (0, 1)
        },
        "turns_mean": sum(game["turns"] for game in played) / len(played),
        "seconds": round(time.monotonic() - began, 3),
        "games": played,
    }
    write_json(snakemake.output[0], record, "match")
    progress.say(f"W-L-D {win}-{loss}-{draw}")


with job(snakemake, snakemake.wildcards.match) as job_progress:  # noqa: F821
    main(snakemake, job_progress)  # noqa: F821
