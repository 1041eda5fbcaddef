"""Everything that reads text from outside takes time in proportion to its length: four times the text, four times.

The texts repeat what parsers stumble over: marks that open and never close, white space without end, marks that nearly
match. Time is counted by the processor, not the clock, and held against the length, not against a number of seconds.
"""

from __future__ import annotations

import itertools
import json
import random
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grasp_site.logs import CREDENTIALS_IN_URL
from search.adapters import mentions_memmap, name_words
from search.adapters.llm_openai.exchange import _message, _retry_after
from search.domain.errors import PlanInvalid
from search.domain.graph import Node
from search.domain.mending import mend
from search.domain.model_reply import UnreadableReply, read_object, without_thinking
from search.domain.plan import Plan
from search.ingest.fields import FieldKinds
from search.ingest.tsv import split_lines
from search.language.detection import language_of
from search.language.gloss import gloss
from search.language.names import find_names, ordinary_words
from search.language.quantities import quantities
from search.language.snippets import snippet
from search.language.turning import turning_words
from search.language.worded import worded
from search.language.words import content
from search.services.searches.storable import storable_json
from search.stages.plan.model import read_plan
from search.templatetags.search_text import marked
from search.text import words
from tests.search.domain.shop import SHOP

LONG = 4_000
"""Characters of the longer text; the shorter one has a quarter."""
QUICK = 0.005
"""Seconds of the processor: a reader that takes no longer for the long text is not measured more closely."""
STEEPER = 9.0
"""Four times the text may cost that much more: twice what is in proportion, half of what the square would be."""
TRIES = 3
"""Tries of a text that seems to cost more: other work on the machine makes a text slower, and never quicker."""

PIECES = [
    "<think>", "</think>", "<think ", "</think", "<", "```", "```json\n", '"', '\\"', "\\", "{", "}", '{"a":', "[", "]",
    ",", ", ", " ", "\n", "\t", '\t"', '""', '"\t', "a", "Ada ", "1", "1,", "1 to ", "from ", "between 1 and ",
    "at most ", "2004 or ", "'", "“", "<-", "->", "--", "inverse ", "_", ".", "!", "& ", "://", ":", "@", "not ", "é",
    "\u0301", "’s ", "$", "19", "Amber Road ", "which ",
]  # fmt: skip


def texts() -> list[str]:
    """Return one piece again and again, two in turn, and many of one before many of another."""
    draw = random.Random(8)
    pairs = draw.sample(list(itertools.permutations(PIECES, 2)), 16)
    units = [*PIECES, *(one + other for one, other in pairs)]
    halves = [("{", "</think>"), ("<think>", "{"), ('"', ","), (" ", "x"), ("x", " "), ('{"a": "', "\\")]
    return [unit * (LONG // len(unit)) for unit in units] + [
        one * (LONG // 2 // len(one)) + other * (LONG // 2 // len(other)) for one, other in halves
    ]


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> mentions_memmap.MemmapMentions:
    folder: Path = tmp_path_factory.mktemp("linear")
    names = ["a", "Ada", "Ada Ada", "Ada Ada Ada Ada", "Amber Road", "1", "1 1", "from", "Road Amber", "not", "e"]
    mentions_memmap.build(folder, ((key, name, False) for key, name in enumerate(names)))
    return mentions_memmap.MemmapMentions(folder)


def as_object(text: str) -> None:
    try:
        read_object(text)
    except UnreadableReply:
        return


def as_plan_of_a_model(text: str) -> None:
    try:
        read_plan(text, SHOP)
    except PlanInvalid:
        return


def as_parts_of_a_plan(text: str) -> None:
    """Read the text in every place of a plan that takes one, and as a key."""
    written: dict[str, Any] = {
        "anchors": [{"var": text, "text": text, "label": text, "match_mode": text, text: text}],
        "hops": [{"from": text, "rel": text, "to_var": text, "to_label": text, "direction": text}],
        "target": {"var": text, "labels": [text], "relevance_text": text},
        "filters": [{"var": text, "field": text, "op": text, "value": text}],
        "risk_level": text,
        text: text,
    }
    mend(written, SHOP)
    try:
        Plan.parse(written, SHOP)
    except PlanInvalid:
        return


def as_many_labels(text: str) -> None:
    written = {"target": {"var": "T", "labels": list(text[:600])}, "anchors": [{"ids": list(text)}]}
    mend(written, SHOP)
    try:
        Plan.parse(written, SHOP)
    except PlanInvalid:
        return


def as_rows(text: str) -> None:
    lines = [f"{line}\n" for line in text.split("\n")]
    list(split_lines(lines))
    list(split_lines([f'id\tname\n"{text}\n', *lines]))


def as_field(text: str) -> None:
    kinds = FieldKinds()
    kinds.observe(text)


def as_snippet(text: str) -> None:
    snippet(Node(0, "n", "film", "Amber Road", fields={"plot": text}), "Amber Road")
    marked(text, "Amber Road")


READERS: dict[str, Callable[[str], object]] = {
    "model's thinking": without_thinking,
    "model's object": as_object,
    "model's plan": as_plan_of_a_model,
    "parts of a plan": as_parts_of_a_plan,
    "labels and ids": as_many_labels,
    "quantities": quantities,
    "quantities in French": lambda text: quantities(text, "fr"),
    "turning words": lambda text: turning_words(text, "en"),
    "turning words in French": lambda text: turning_words(text, "fr"),
    "language of a question": lambda text: language_of(text, "en"),
    "gloss": lambda text: gloss(text, "fr", "en"),
    "gloss without spaces": lambda text: gloss(text.replace("a", "日本で"), "ja", "en"),
    "question in another language": lambda text: worded(text + " où est la maladie", "en"),
    "words": content,
    "identifiers": words,
    "mentions' words": name_words.words_of,
    "rows of a file": as_rows,
    "field": as_field,
    "request": lambda text: storable_json({text: [text, json.dumps(text)]}, ""),
    "Retry-After": _retry_after,
    "server's message": lambda text: _message({"error": {"message": text}}, text),
    "log line": lambda text: CREDENTIALS_IN_URL.sub("", text),
    "snippet": as_snippet,
}


def seconds(read: Callable[[str], object], text: str, tries: int = 1) -> float:
    """Return seconds of the processor, the least of some tries."""
    least = float("inf")
    for _ in range(tries):
        began = time.thread_time()
        read(text)
        least = min(least, time.thread_time() - began)
    return least


def steep(read: Callable[[str], object]) -> list[str]:
    """Return what says which texts cost more than their length."""
    found = []
    for text in texts():
        long = seconds(read, text)
        if long < QUICK:
            continue
        half = len(text) // 2
        # A quarter of each half, for texts whose halves differ.
        quarter = text[: half // 4] + text[half : half + half // 4]
        short = seconds(read, quarter, TRIES)
        if long > STEEPER * short and (long := min(long, seconds(read, text, TRIES))) > STEEPER * short:
            shown = f"{text[:20]!r}…{text[-10:]!r}"
            found.append(f"{shown}: {1000 * short:.1f} ms, of four times the text {1000 * long:.1f} ms")
    return found


@pytest.mark.parametrize("name", READERS)
def test_a_text_from_outside_is_read_in_time_that_grows_like_its_length(name: str) -> None:
    assert not steep(READERS[name])


def test_names_are_found_in_time_that_grows_like_the_question(index: mentions_memmap.MemmapMentions) -> None:
    ordinary = ordinary_words(SHOP)
    assert not steep(lambda text: find_names(text, index, ordinary, 9))


def test_the_measure_sees_what_grows_like_the_square() -> None:
    def square(text: str) -> int:
        return sum(one == other for one in text[::8] for other in text[::8])

    assert steep(square)
