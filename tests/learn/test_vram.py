"""The look at a GPU's memory, with a reading of its own, and the derived geometry."""

from __future__ import annotations

import dataclasses

import pytest
import torch
import toy_game

from royale import games
from royale.learn.recipe import Recipe
from royale.preflight import vram
from royale.preflight.geometry import choice_share, geometry

RECIPE = dataclasses.replace(Recipe(), channels=4, blocks=1, minibatch=512)
TRAIN = {"envs": 64, "horizon": 8, "segment_steps": 2500}


class Reading:
    """A device on which 100 MB are always taken, and each sample of a backward pass takes 1 MB."""

    def __init__(self, free, monkeypatch, out_from=10**9):
        self.free, self.samples, self.peaks = free, 0, []
        honest = vram.minibatch_losses

        def seen(network, codec, recipe, coefficient, batch, precision):
            self.samples = len(batch.action)
            if self.samples >= out_from:
                raise torch.OutOfMemoryError("out of memory")
            return honest(network, codec, recipe, coefficient, batch, precision)

        monkeypatch.setattr(vram, "minibatch_losses", seen)

    def begin(self):
        self.samples = 0

    def peak_mb(self):
        self.peaks.append(100 + self.samples)
        return self.peaks[-1]

    def free_mb(self):
        return self.free


def look(memory):
    return vram.vram_check("toy", toy_game.SETTINGS, TRAIN, RECIPE, "cpu", memory)


def test_a_minibatch_that_fits_is_told_with_what_is_free(monkeypatch):
    check = look(Reading(1000, monkeypatch))
    assert check.status == "ok"
    assert check.found == "a minibatch of 512 takes 868 MB with 256 MB to spare, 1,000 MB free"


def test_one_that_does_not_is_refused_with_the_next_that_was_seen_to_fit(monkeypatch):
    memory = Reading(500, monkeypatch)  # 100 + 256 to spare leave 144 samples
    check = look(memory)
    assert check.status == "refused" and "868 MB" in check.found
    assert "next legal smaller minibatch is 128:" in check.fix
    assert memory.peaks == [612, 356, 228]


def test_running_out_on_the_way_is_no_crash(monkeypatch):
    check = look(Reading(10_000, monkeypatch, out_from=256))
    assert check.status == "refused" and "takes more than there is" in check.found
    assert "minibatch is 128:" in check.fix
    nothing = look(Reading(300, monkeypatch))
    assert nothing.fix == "no minibatch fits; lower envs"


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
def test_a_real_gpu_is_asked():
    check = vram.vram_check("toy", toy_game.SETTINGS, TRAIN, RECIPE)
    assert check.status == "ok"


def test_the_geometry_by_hand(monkeypatch):
    recipe = dataclasses.replace(RECIPE, advantage_top=0.25, epochs=3, minibatch=100)
    monkeypatch.setattr(toy_game.ToyGame, "turn_ms", 500.0, raising=False)
    assert geometry(toy_game.GAME, TRAIN, recipe) == {
        "games_at_once": 64,
        "decisions_a_game_an_iteration": 16,
        "samples_an_iteration": 1024,
        "samples_trained_on": 256,
        "minibatch": 100,
        "forward_passes_collecting": 9,
        "forward_backward_passes_an_iteration": 9,
        "optimizer_steps_an_iteration": 9,
        "iterations_a_segment": 3,
        "steps_asked": 2500,
        "steps_collected": 3072,
        "game_seconds_an_iteration": 256,
    }
    monkeypatch.undo()
    assert "game_seconds_an_iteration" not in geometry(toy_game.GAME, TRAIN, recipe)


@pytest.mark.parametrize(("rest", "low", "high"), [(1, 0.95, 1), (4, 0.15, 0.35), (10**9, 0, 0)])
def test_the_share_of_choices_is_seen_in_random_play(rest, low, high):
    batch = toy_game.GAME.make(32, {**toy_game.SETTINGS, "rest": rest}, "base")
    toy_game.first_view(batch)
    assert low <= choice_share(toy_game.GAME, batch) <= high


def test_clash_says_how_long_a_turn_is():
    assert games.load("clash").turn_ms == 500
    assert not hasattr(games.load("generals"), "turn_ms")
