"""Questions that say the same are found, and questions of one pattern about different things are not."""

from __future__ import annotations

import random
import time
from itertools import combinations

import pytest

from training.data.examples import Example
from training.data.near_duplicates import LEAST, NEAR, SAME_TEXT, SAME_WORDS, duplicate_pairs, groups_of, likeness

OTHERS = [
    Example(f"o{at}", text, (f"other/{at}",))
    for at, text in enumerate(
        ("Which river flows through Ostervik?", "Name the tallest tower of Brimholt.", "When was Ketter founded?")
    )
]
ASKED = "Which films did Ada Holm direct after Birch Street?"


def kinds(first: Example, second: Example) -> list[str]:
    return [pair.kind for pair in duplicate_pairs([first, *OTHERS, second])]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("which films did ADA HOLM direct, after “Birch Street”", SAME_TEXT),
        ("After Birch Street, which films did Ada Holm direct?", SAME_WORDS),
        ("Please tell me which films Ada Holm directed after Birch Street", NEAR),
        ("Which films did Ada Holm dirct after Birch Street?", NEAR),
        ("Which film did Ada Holm direct after Birch Street?", NEAR),
    ],
)
def test_the_same_question_in_other_words_is_found(text: str, kind: str) -> None:
    assert kinds(Example("1", ASKED, ("film/1", "film/2")), Example("2", text, ("film/2",))) == [kind]


@pytest.mark.parametrize(
    "text",
    [
        "Which films did Ada Holm write after Birch Street?",
        "Which films did Ada Lund direct after Birch Street?",
        "Which films did Ada Holm direct in Ketter with Ida Lund after Birch Street?",
        "Who is Ada Holm?",
    ],
)
def test_a_question_about_something_else_is_not_near_even_with_the_same_answer(text: str) -> None:
    assert kinds(Example("1", ASKED, ("film/1",)), Example("2", text, ("film/1",))) == []


def test_a_year_more_is_another_question() -> None:
    asked = [Example(str(year), f"Which films by Ada Holm are from {year}?", ("film/1",)) for year in (1998, 1999)]
    assert duplicate_pairs(asked) == []


def test_near_questions_without_a_shared_answer_are_about_different_things_but_the_same_words_are_not() -> None:
    one = Example("1", ASKED, ("film/1",))
    assert kinds(one, Example("2", "Which film did Ada Holm direct after Birch Street?", ("film/9",))) == []
    assert kinds(one, Example("2", ASKED.upper(), ("film/9",))) == [SAME_TEXT]


def test_likeness_is_the_smaller_dice_coefficient() -> None:
    rarity = {"direct": 1.0, "ada": 3.0, "holm": 3.0, "writ": 1.0, "film": 1.0, "films": 1.0}
    # Two of three words shared: 4/6 counted alike, (2*6)/(7+7) by rarity.
    assert likeness(["ada", "direct", "holm"], ["ada", "holm", "writ"], rarity) == pytest.approx(4 / 6)
    # A shared common word and two rare ones that differ: 2/4 counted alike, 2*1/(4+4) by rarity.
    assert likeness(["ada", "film"], ["film", "holm"], rarity) == pytest.approx(2 / 8)
    # A misspelling counts as the word.
    assert likeness(["film"], ["films"], rarity) == 1.0


def test_groups_connect_whatever_is_connected_by_pairs() -> None:
    asked = [Example(str(at), "Who made Amber Road?", (str(at),)) for at in range(4)]
    asked.insert(2, OTHERS[0])
    pairs = duplicate_pairs(asked)
    assert [(pair.first, pair.second) for pair in pairs] == [(0, 1), (1, 3), (3, 4)]
    assert groups_of(len(asked), pairs) == [0, 0, 2, 0, 0]


def test_no_candidate_is_lost_by_the_blocks() -> None:
    """Every pair that brute force finds is found, on questions made of few words so that many are alike."""
    chance = random.Random(5)
    words = ["amber", "road", "birch", "street", "holm", "lund", "wrote", "direct", "river", "tower"]
    asked = [
        Example(str(at), " ".join(chance.sample(words, 5)), (str(chance.randrange(6)), str(chance.randrange(6))))
        for at in range(120)
    ]
    found = {(pair.first, pair.second) for pair in duplicate_pairs(asked)}
    group = groups_of(len(asked), duplicate_pairs(asked))
    for a, b in combinations(range(len(asked)), 2):
        if sorted(asked[a].text.split()) == sorted(asked[b].text.split()):
            assert group[a] == group[b], (asked[a], asked[b])
    assert found


def test_the_effort_grows_with_the_number_of_questions_and_not_with_its_square() -> None:
    def seconds(count: int) -> float:
        asked = [Example(str(at), f"which films did person {at % (count // 4)} number {at} direct", (f"n{at % 50}",))
                 for at in range(count)]  # fmt: skip
        began = time.process_time()
        duplicate_pairs(asked)
        return time.process_time() - began

    # Four times the questions: linear effort is four times the seconds, quadratic effort sixteen times. The best of
    # three, because other work on the machine takes from the caches of the larger one.
    few, many = (min(seconds(count) for _ in range(3)) for count in (1_000, 4_000))
    assert many < 10 * few


def test_the_threshold_is_a_part_of_one() -> None:
    assert 0 < LEAST < 1
