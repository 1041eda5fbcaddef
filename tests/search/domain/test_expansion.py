"""The text that is searched in place of a question: its parts, how they are cut, and what is said about it."""

from __future__ import annotations

from typing import Any

from search.domain.evidence import Path, PathEdge, PathNode
from search.domain.expansion import Expansion, ExpansionPart
from search.domain.graph import Node
from search.domain.payloads import ExpandedPayload, read_payload
from search.domain.question import Question

WHO = Question("Who made it?", k=7)
TIDE, ANN = Node(1, "t", "film", "Tide"), Node(2, "a", "person", "Ann")


def of(*texts: str, each: int = 1_000, total: int = 8_000, **told: Any) -> Expansion:
    parts = [ExpansionPart(text, "document", TIDE) for text in texts]
    return Expansion.of(WHO, parts, each=each, total=total, **told)


def test_the_question_comes_first_and_the_parts_follow_with_an_empty_line_between_them() -> None:
    found = of("film: Tide\nyear: 1999", "film: Gale")
    assert found.text == "Who made it?\n\nfilm: Tide\nyear: 1999\n\nfilm: Gale"
    assert [part.source for part in found.parts] == ["question", "document", "document"]
    assert (found.detail, found.left_out) == ("", 0)


def test_the_searched_text_replaces_the_question_and_nothing_else_of_it() -> None:
    asked = of("film: Tide").asked(WHO)
    assert (asked.text, asked.k) == ("Who made it?\n\nfilm: Tide", 7)


def test_no_part_contains_the_empty_line_that_separates_parts_nor_what_cannot_be_stored() -> None:
    assert of("a\n\n \nb\x00c\ud800").added[0].text == "a\nb c?"


def test_empty_parts_are_left_out_without_a_word() -> None:
    found = of("", " \n ", "film: Gale")
    assert [part.text for part in found.added] == ["film: Gale"]
    assert (found.detail, found.left_out) == ("", 0)


def test_a_hundred_thousand_characters_are_cut_at_a_word_and_that_is_said() -> None:
    found = of("harbour " * 12_500, detail="One document.")
    [part] = found.added
    assert part.text == " ".join(["harbour"] * 125)
    # 99,999 characters without the last space; the question has 12.
    assert part.cut == 99_999 - 999
    assert found.detail == "One document. Of the 100,011 characters of the longer text, 1,011 are searched."


def test_where_all_together_are_too_long_the_longest_are_cut_and_the_short_ones_stay_whole() -> None:
    found = of("x" * 10, "y" * 100, "z" * 400, each=1_000, total=210)
    assert [len(part.text) for part in found.added] == [10, 100, 100]


def test_what_does_not_fit_at_all_is_counted() -> None:
    found = of("aa", "bb", "cc", total=2)
    # Two characters for three parts: the first two shares are 0 and 1 of them.
    assert len(found.added) + found.left_out == 3
    assert sum(len(part.text) for part in found.added) <= 2


def test_what_is_recorded_has_references_in_place_of_keys_and_is_read_back_the_same() -> None:
    path = Path((PathNode(ANN), PathNode(TIDE)), (PathEdge("directed_by", "in"),))
    found = Expansion.of(WHO, [ExpansionPart("film: Tide", "triple", TIDE, path)], each=100, total=100)
    written = found.to_json()
    assert written["parts"][1] == {
        "source": "triple",
        "text": "film: Tide",
        "node": {"id": "t", "type": "film", "name": "Tide"},
        "path": path.to_json(),
        "cut": 0,
    }
    read = read_payload("expand", written)
    assert isinstance(read, ExpandedPayload)
    assert read.to_json() == written
