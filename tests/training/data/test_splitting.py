"""Splits are drawn by groups: the same for the same seed, unmoved by new questions, with nothing in two of them."""

from __future__ import annotations

from collections import Counter

import pytest

from training.data.examples import BadQuestions, Example
from training.data.near_duplicates import duplicate_pairs, groups_of
from training.data.splitting import across_splits, moved_groups, parse_shares, split_by_group

SHARES = {"train": 8.0, "val": 1.0, "test": 1.0}


def asked(count: int) -> list[Example]:
    """Return questions of which each third is asked twice."""
    single = [Example(f"{at}", f"Who made thing{at}?", (f"n{at}",)) for at in range(count)]
    return single + [Example(f"again-{one.id}", f"{one.text.lower()}!", one.answers) for one in single[::3]]


def divided(examples: list[Example], seed: int = 0) -> dict[str, str]:
    groups = groups_of(len(examples), duplicate_pairs(examples))
    return {one.id: one.split for one in split_by_group(examples, groups, SHARES, seed)}


def test_no_group_is_in_two_splits_and_the_shares_are_met() -> None:
    split = divided(asked(900))
    assert all(split[name] == split[name.removeprefix("again-")] for name in split)
    sizes = Counter(split.values())
    assert [sizes[name] / len(split) for name in SHARES] == pytest.approx([0.8, 0.1, 0.1], abs=0.03)


def test_the_same_seed_gives_the_same_splits_in_any_order_and_another_seed_others() -> None:
    examples = asked(200)
    assert divided(examples) == divided(examples[::-1])
    assert divided(examples) != divided(examples, seed=1)


def test_a_question_keeps_its_split_when_others_are_added() -> None:
    before, after = divided(asked(200)), divided(asked(300))
    assert {name: after[name] for name in before} == before


def test_a_split_that_stays_empty_is_told() -> None:
    with pytest.raises(BadQuestions, match="2 questions leave the split"):
        split_by_group([Example("1", "a", ("x",)), Example("2", "b", ("y",))], [0, 1], SHARES, 0)


def test_whole_groups_are_moved_into_the_chosen_split() -> None:
    examples = [
        Example("1", "a", ("x",), "train"), Example("2", "a", ("x",), "test"), Example("3", "b", ("y",), "train"),
        Example("4", "b", ("y",), "train"),
    ]  # fmt: skip
    groups = [0, 0, 2, 2]
    assert across_splits(examples, groups) == {0}
    assert [one.split for one in moved_groups(examples, groups, "test")] == ["test", "test", "train", "train"]
    with pytest.raises(BadQuestions, match="the splits are: 'test', 'train'"):
        moved_groups(examples, groups, "dev")


def test_shares_are_read_from_text() -> None:
    assert parse_shares(" train=80%, val = 10,test=10 ") == {"train": 80.0, "val": 10.0, "test": 10.0}
    assert parse_shares("") == {}


@pytest.mark.parametrize(
    "text", ["train", "train=", "=5", "train=-1", "train=0", "train=nan", "train=1,train=2", "a=²"]
)
def test_what_is_no_share_is_told(text: str) -> None:
    with pytest.raises(BadQuestions, match=r"no share of a split|there twice"):
        parse_shares(text)
