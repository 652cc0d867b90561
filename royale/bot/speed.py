"""How long a move takes here: `python -m royale.bot.speed --channels 192 --blocks 6`.

Times a network of random weights, from the frame's text to the reply, on one core.
Needs numpy alone, so it runs wherever the bot will.
"""

from __future__ import annotations

import argparse
import os
import time

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"


def random_bundle(channels: int, blocks: int, canvas: int, encoder: str):
    """A bundle of the competition's rules with random weights."""
    import numpy as np

    from royale.bot.bundle import FORMAT, Bundle, shapes
    from royale.bot.planes import ENCODERS

    meta = {
        "format": FORMAT,
        "game": "generals",
        "canvas": canvas,
        "encoder": encoder,
        "planes": ENCODERS[encoder],
        "action_planes": 9,
        "global_actions": 1,
        "channels": channels,
        "blocks": blocks,
        "value_head": "scalar",
        "value_support": 1.1,
        "max_turns": 1200,
        "deathtouch_turn": 800,
        "build_base": 35,
        "build_surcharge": 14,
        "castle_cap": None,
        "layout_fingerprint": "",
        "champion_sha256": "",
    }
    rng = np.random.default_rng(0)
    weights = {
        name: (rng.normal(size=shape) / np.sqrt(max(1, np.prod(shape[1:])))).astype(np.float32)
        for name, shape in shapes(meta).items()
    }
    return Bundle(meta, weights)


def measure(channels: int, blocks: int, canvas: int, encoder: str, moves: int) -> dict[str, float]:
    """Milliseconds a move: wall median and p99, and the same of CPU time; parameters."""
    import numpy as np

    from royale.bot import wire
    from royale.bot.play import Bot

    made = random_bundle(channels, blocks, canvas, encoder)
    bot = Bot(made, 1e6)
    bot.start(canvas, canvas)
    rng = np.random.default_rng(0)
    owner = rng.integers(0, 3, (canvas, canvas))  # half of the board in play
    kind = np.where(rng.random(owner.shape) < 0.2, wire.MOUNTAIN, wire.PLAIN)
    owner[kind == wire.MOUNTAIN] = wire.NOBODY
    grids = (kind, owner, rng.integers(0, 60, owner.shape) * (owner > 0))
    rows = [b" ".join(b"%d" % n for n in row) for grid in grids for row in grid.tolist()]
    seconds = []
    for turn in range(moves):
        lines = [b"%d 147 4000 147 4000" % turn, *rows]
        wall, cpu = time.perf_counter(), time.process_time()
        order = bot.move(wire.parse_frame(lines, canvas, canvas), time.monotonic())
        wire.format_order(order)
        seconds.append((time.perf_counter() - wall, time.process_time() - cpu))
    wall, cpu = 1000 * np.array(seconds).T
    return {
        "parameters": sum(weight.size for weight in made.weights.values()),
        "wall_median": float(np.median(wall)),
        "wall_p99": float(np.percentile(wall, 99)),
        "cpu_median": float(np.median(cpu)),
        "cpu_p99": float(np.percentile(cpu, 99)),
    }


def main() -> None:
    """Entry point."""
    parser = argparse.ArgumentParser(prog="python -m royale.bot.speed", description=__doc__)
    parser.add_argument("--channels", type=int, default=192)
    parser.add_argument("--blocks", type=int, default=6)
    parser.add_argument("--canvas", type=int, default=21)
    parser.add_argument("--encoder", default="base")
    parser.add_argument("--moves", type=int, default=300)
    chosen = parser.parse_args()
    found = measure(chosen.channels, chosen.blocks, chosen.canvas, chosen.encoder, chosen.moves)
    print(
        f"{chosen.channels} channels, {chosen.blocks} blocks, {found['parameters'] / 1e6:.2f}M "
        f"parameters, {chosen.canvas}x{chosen.canvas}: "
        f"ms a move {found['wall_median']:.1f}, p99 {found['wall_p99']:.1f}; "
        f"of CPU time {found['cpu_median']:.1f}, p99 {found['cpu_p99']:.1f}"
    )


if __name__ == "__main__":
    main()
