"""Names of players and matches: every text that a file may have comes back as it was."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from royale.evidence.names import ARMS, ROOT_ARM, MatchName, PlayerName

words = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
numbers = st.integers(0, 10**6)
arms = st.sampled_from([*ARMS, ROOT_ARM])
texts = st.one_of(
    words,
    st.builds("{}.champion".format, words),
    st.builds("{}.{}.seed{}".format, words, arms, numbers),
    st.builds("{}.{}.seed{}.segment{}".format, words, arms, numbers, numbers),
    st.builds("{}.{}.seed{}.wall_clock".format, words, arms, numbers),
)


@given(texts, texts)
def test_a_name_comes_back_as_it_was(a, b):
    assert str(PlayerName.parse(a)) == a
    match = MatchName.parse(f"{a}-vs-{b}")
    assert str(match) == f"{a}-vs-{b}"
    assert (str(match.a), str(match.b)) == (a, b)
    assert match == MatchName(PlayerName.parse(a), PlayerName.parse(b))


def test_the_parts_of_a_name():
    found = PlayerName.parse("g05.control.seed12.segment3")
    assert (found.generation, found.arm, found.seed, found.segment) == ("g05", "control", 12, 3)
    assert found == PlayerName.of_arm("g05", "control", 12, 3)
    assert PlayerName.parse("g05.control.seed12.wall_clock").wall_clock
    assert PlayerName.parse("g04.champion") == PlayerName.champion("g04")
    assert PlayerName.champion("g04").is_champion
    random = PlayerName.parse("random")
    assert random == PlayerName.named("random")
    assert random.generation is None and not random.is_champion


@pytest.mark.parametrize(
    "text",
    [
        "g05.winner",
        "g05.treatment",
        "g05.treatment.seed",
        "g05.treatment.seed01",
        "g05.third.seed1",
        "g05.champion.segment1",
        "g05.treatment.seed1.segment01",
        "g05.treatment.seed1.segment1.wall_clock",
        ".champion",
    ],
)
def test_no_name(text):
    with pytest.raises(ValueError, match="is no player's name"):
        PlayerName.parse(text)


@pytest.mark.parametrize("text", ["random", "random-vs-", "-vs-random", "a-vs-b-vs-c", ""])
def test_no_match(text):
    with pytest.raises(ValueError, match="is no match's name"):
        MatchName.parse(text)
