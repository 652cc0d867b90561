"""The reward audit: what is sound passes, and a signal broken anywhere is named there."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import toy_game
from learner_parts import reward_lost_at_the_cap

from royale.learn import audit as audits
from royale.learn import ppo
from royale.learn.audit import AuditError, Finding, assert_rewards, audit
from royale.learn.recipe import Recipe
from royale.learn.rollout import Actors
from royale.learn.value import ValueCodec
from royale.preflight import doctor

RECIPE = Recipe()
NAMES = ["outcome", "draw_reward at the turn cap", "draw_reward of other draws", "shaping.land"]
CAP = NAMES[1]


@pytest.fixture(autouse=True)
def short(monkeypatch):
    monkeypatch.setattr(audits, "TURNS", 16)


def found(settings=toy_game.SETTINGS, **changes):
    findings = audit("toy", settings, dataclasses.replace(RECIPE, **changes))
    assert [finding.coefficient for finding in findings] == NAMES
    return {finding.coefficient: finding for finding in findings}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"value_head": "hl_gauss", "symmetry": "per_episode"},
        {"draw_reward": 1.0, "shaping": {"land": -0.5}, "optimizer": "muon"},
        {"value_coef": 0.0, "gae_lambda": 0.0},
        {"value_clip": 0.2, "symmetry": "stored_samples"},
        {"opponents": {"random": 1.0}, "explore_plane": {"up": 0.5}, "precision": "bf16"},
    ],
)
def test_a_sound_learner_passes(changes):
    findings = found(**changes)
    assert [f.line() for f in findings.values() if f.died_at] == []
    assert all(finding.samples > 0 for finding in findings.values())
    assert_rewards(list(findings.values()))


RESTING = {**toy_game.SETTINGS, "rest": 4}  # three rows in four may only pass


@pytest.mark.parametrize("changes", [{}, {"gae_lambda": 0.0, "gamma": 0.5}])
def test_a_sound_learner_passes_where_most_rows_have_no_choice(monkeypatch, changes):
    monkeypatch.setattr(audits, "TURNS", 40)
    findings = found(RESTING, **changes)
    assert [f.line() for f in findings.values() if f.died_at] == []
    assert all(finding.samples > 0 for finding in findings.values())


def test_the_same_audit_twice_says_the_same():
    assert found() == found()


# each breaks one thing; the coefficients it kills, and where
def shaping_dropped(patch):
    patch.setattr(Actors, "_potential", lambda self: self.shaped)


def potential_stands_still(patch):
    patch.setattr(toy_game.ToyRace, "potentials", lambda self, out: out.fill(0))


def bootstrapped_over(patch):
    gae = ppo.gae
    patch.setattr(ppo, "gae", lambda r, done, *rest: gae(r, np.zeros_like(done), *rest))


def masked_out(patch):
    update = ppo.Updater.update

    def broken(self, rollout, *rest):
        ends = rollout.done[rollout.samples.turn, rollout.samples.row]
        keep = np.flatnonzero(~ends)
        patch.setattr(ppo, "select_top", lambda advantages, fraction: keep)
        return update(self, rollout, *rest)

    patch.setattr(ppo.Updater, "update", broken)


def policy_ignores_advantages(patch):
    surrogate = ppo.clipped_surrogate
    patch.setattr(ppo, "clipped_surrogate", lambda r, a, clip: surrogate(r, a * 0.0 + 1.0, clip))


def value_ignores_returns(patch):
    loss = ValueCodec.loss
    patch.setattr(ValueCodec, "loss", lambda self, out, target: loss(self, out, target * 0.0))


def policy_gradient_does_not_flow(patch):
    surrogate = ppo.clipped_surrogate
    patch.setattr(ppo, "clipped_surrogate", lambda r, a, clip: surrogate(r.detach(), a, clip))


def value_gradient_does_not_flow(patch):
    loss = ValueCodec.loss
    patch.setattr(ValueCodec, "loss", lambda self, out, target: loss(self, out.detach(), target))


def metrics_stand_still(patch):
    update = ppo.Updater.update

    def broken(self, *rest):
        return update(self, *rest) | dict.fromkeys(audits.METRICS, 0.0)

    # the losses are read from the metrics too, so only the comparison of them is tested
    patch.setattr(audits, "_losses", lambda *rest: None)
    patch.setattr(ppo.Updater, "update", broken)


@pytest.mark.parametrize(
    "breakage, stage, killed",
    [
        (reward_lost_at_the_cap, "reward", {CAP}),
        (shaping_dropped, "reward", {"shaping.land"}),
        (potential_stands_still, "game", {"shaping.land"}),
        (bootstrapped_over, "return", set(NAMES[:3])),
        (masked_out, "minibatch", set(NAMES[:3])),
        (policy_ignores_advantages, "loss", set(NAMES)),
        (value_ignores_returns, "loss", set(NAMES)),
        (policy_gradient_does_not_flow, "gradient", set(NAMES)),
        (value_gradient_does_not_flow, "gradient", set(NAMES)),
        (metrics_stand_still, "metric", set(NAMES)),
    ],
)
def test_a_broken_signal_is_named_where_it_dies(monkeypatch, breakage, stage, killed):
    breakage(monkeypatch)
    findings = found()
    died = {name: finding.died_at for name, finding in findings.items() if finding.died_at}
    assert {name: died.get(name) for name in killed} == dict.fromkeys(killed, stage)
    assert set(died) == killed or breakage is masked_out  # shaping acts on endings too
    with pytest.raises(AuditError, match=f"dies at {stage}: "):
        assert_rewards(list(findings.values()))


@pytest.mark.parametrize(
    "breakage, stage, killed",
    [
        (reward_lost_at_the_cap, "reward", {CAP}),
        (bootstrapped_over, "return", set(NAMES[:3])),
        (value_gradient_does_not_flow, "gradient", set(NAMES)),
    ],
)
def test_a_broken_signal_is_named_where_most_rows_have_no_choice(
    monkeypatch, breakage, stage, killed
):
    monkeypatch.setattr(audits, "TURNS", 40)
    breakage(monkeypatch)
    findings = found(RESTING).items()
    assert {n: f.died_at for n, f in findings if f.died_at} == dict.fromkeys(killed, stage)


def test_the_truncation_bug_is_refused():
    findings = found(truncation="reset")
    died = {f.coefficient: f.died_at for f in findings.values() if f.died_at}
    assert died == {CAP: "reward", "shaping.land": "minibatch"}  # the last turn's shaping, too
    check = doctor.reward_check(
        "toy", toy_game.SETTINGS, dataclasses.replace(RECIPE, truncation="reset")
    )
    assert check.status == "refused" and "dies at reward" in check.found
    assert check.fix.startswith("set recipe key truncation to terminal")


@pytest.mark.parametrize("mended, stage", [(1, "return"), (2, "minibatch")])
def test_the_truncation_bug_is_seen_in_its_later_stages_too(monkeypatch, mended, stage):
    # mend the first faults of `reset`, the lost reward and the missing cut, one by one
    step, gae = Actors._step, ppo.gae

    def rewarded(self, *rest):
        sound = dataclasses.replace(self.recipe, truncation="terminal")
        asked, self.recipe = self.recipe, sound
        lost = step(self, *rest)
        self.recipe = asked
        return lost

    monkeypatch.setattr(Actors, "_step", rewarded)
    if mended == 2:
        update = ppo.Updater.update

        def cut(self, rollout, *rest):
            def whole(r, done, *others):
                return gae(r, rollout.done, *others)

            monkeypatch.setattr(ppo, "gae", whole)
            return update(self, rollout, *rest)

        monkeypatch.setattr(ppo.Updater, "update", cut)
    assert found(truncation="reset")[CAP].died_at == stage


def test_a_finding_is_one_plain_line():
    line = Finding("draw_reward", 12, "return", "none of its 12 samples change").line()
    assert line == "draw_reward: reaches reward, dies at return: none of its 12 samples change"
    assert Finding("outcome", 12, "game", "nothing").line() == "outcome: dies at game: nothing"


def test_the_doctor_refuses(monkeypatch):
    sound = doctor.reward_check("toy", toy_game.SETTINGS, RECIPE)
    assert sound.status == "ok" and "shaping.land" in sound.found
    reward_lost_at_the_cap(monkeypatch)
    check = doctor.reward_check("toy", toy_game.SETTINGS, RECIPE)
    assert check.status == "refused" and check.fix
    assert check.found.startswith(f"{CAP}: reaches game, dies at reward: ")
