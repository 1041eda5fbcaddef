"""The chips of a follow-up."""

from __future__ import annotations

from typing import Any

from search.views.shown.follow_up import show_follow_up


def change(kind: str, part: str, text: str, before: str = "") -> dict[str, Any]:
    return {"kind": kind, "part": part, "text": text, "before": before, "was": None, "at": None}


def told(*changes: dict[str, Any], reading: str | None = "changed") -> dict[str, Any]:
    thread = [{"id": "1", "question": "Which drugs treat COPD?"}]
    return {"follow_up": {"thread": thread, "reading": reading, "read_as": "", "note": "n", "changes": list(changes)}}


def test_a_search_that_follows_nothing_has_no_chips() -> None:
    assert show_follow_up({"follow_up": None}) is None


def test_each_part_has_a_chip_with_a_word_for_what_became_of_it() -> None:
    shown = show_follow_up(
        told(change("changed", "anchor", "asthma", "COPD"), change("added", "filter", "year > 2000"))
    )
    assert shown is not None
    assert [(chip.mark, chip.part, chip.text, chip.before) for chip in shown.chips] == [
        ("changed", "entity", "asthma", "COPD"),
        ("added", "condition", "year > 2000", ""),
    ]
    assert (shown.changes, shown.note, shown.thread) == (2, "n", (("1", "Which drugs treat COPD?"),))


def test_a_relation_has_a_chip_only_where_no_entity_comes_or_goes_with_it() -> None:
    hop = change("added", "hop", "writes")
    alone = show_follow_up(told(hop, change("kept", "hop", "has topic")))
    assert alone is not None
    assert [chip.text for chip in alone.chips] == ["writes"]
    beside = show_follow_up(told(change("added", "anchor", "Anna"), hop))
    assert beside is not None
    assert [chip.text for chip in beside.chips] == ["Anna"]


def test_before_the_words_were_read_there_is_no_reading() -> None:
    shown = show_follow_up(told(reading=None))
    assert shown is not None
    assert (shown.reading, shown.chips) == ("", ())
