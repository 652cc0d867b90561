"""The bench as dated blocks of Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LINES = (
    "iterations",
    "steps_per_second",
    "first_iteration_seconds",
    "iteration_seconds",
    "collection_seconds",
    "update_seconds",
    "env_ms_per_game_step",
    "codec_us_per_row",
    "boundary_mb_per_second",
    "inference_ms_per_round",
    "update_timesteps_per_second",
    "overlap_saved_seconds",
    "rollout_capacity_ratio",
    "vram_peak_mb",
    "ratio_max_abs_dev",
    "ratio_atol",
    "residual_share",
    "decisions_an_iteration",
    "bytes_a_sample",
    "load_average",
)


def bench_text(result: Mapping[str, Any], date: str) -> str:
    """What `bench` found, a block a ladder."""
    blocks = []
    for ladder, found in result["ladders"].items():
        rows = [(name, found[name], found.get(f"{name}_range")) for name in LINES]
        rows += [(k, v, None) for k, v in found.get("checks", {}).items()]
        blocks.append(
            f"### {date}: {ladder}, profile {result['profile']}, {result['device']}, "
            f"{result['threads']} threads, {result['determinism']}\n\n"
            f"{found['verdict']}.\n\n| line | median | range |\n|---|---|---|\n"
            + "\n".join(
                f"| {name} | {_text(value)} | {_range(ends)} |" for name, value, ends in rows
            )
        )
    return "\n\n".join(blocks) + "\n"


def sweep_text(result: Mapping[str, Any], date: str) -> str:
    """What `sweep` found, a block a ladder, the fastest first."""
    blocks = []
    for ladder, found in result["ladders"].items():
        rows = sorted(found["rows"], key=lambda row: -row["steps_per_second"])
        blocks.append(
            f"### {date}: sweep of {ladder}, profile {result['profile']}, {result['device']}\n\n"
            f"{found['verdict']}.\n\n"
            f"| setting | agent steps/s | range of {found['repeats']} | learns otherwise |\n"
            "|---|---|---|---|\n"
            + "\n".join(
                f"| {row['setting']} | {row['steps_per_second']:,.0f} | {_range(row['range'])} | "
                f"{'yes' if row['changes_results'] else 'no'} |"
                for row in rows
            )
        )
    return "\n\n".join(blocks) + "\n"


def scaling_text(result: Mapping[str, Any], date: str) -> str:
    """What `scaling` found, a block a ladder."""
    blocks = []
    for ladder, found in result["ladders"].items():
        blocks.append(
            f"### {date}: scaling of {ladder}, profile {result['profile']}, {result['device']}, "
            f"{result['threads']} threads a process\n\n{found['verdict']}.\n\n"
            "| processes | agent steps/s | range | efficiency |\n|---|---|---|---|\n"
            + "\n".join(
                f"| {row['processes']} | {row['steps_per_second']:,.0f} | {_range(row['range'])} | "
                f"{row['efficiency']:.0%} |"
                for row in found["rows"]
            )
        )
    return "\n\n".join(blocks) + "\n"


def _text(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:,.6g}" if isinstance(value, float) else str(value)


def _range(ends: Any) -> str:
    return "" if ends is None else f"{_text(ends[0])} to {_text(ends[1])}"
