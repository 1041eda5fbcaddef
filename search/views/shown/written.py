"""The written answer of a search: sentences whose numbers lead to the results that bear them out."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.services.searches.written import written_lines

Json = Mapping[str, Any]

LOOKED_UP = "understood"
"""Part of the page that shows what was looked up."""
_NUMBER = re.compile(r" \[(\d+)\]")


@dataclass(frozen=True, slots=True)
class ShownSource:
    """A source by its number: the name of what it says something of, what it says, and the `place` on the page."""

    number: int
    name: str
    evidence: str
    place: str


@dataclass(frozen=True, slots=True)
class ShownWritten:
    """A written answer: its sentences as pieces of text, each with the source that stands behind it or None.

    `brief` is what the closed part shows, `copied` the whole as plain text with its sources.
    """

    pieces: tuple[tuple[str, ShownSource | None], ...]
    sources: tuple[ShownSource, ...]
    brief: str
    copied: str


def show_written(question: str, sentences: Sequence[Json]) -> ShownWritten | None:
    """Return a written answer as the page prints it; None if nothing is written."""
    if not sentences:
        return None
    pieces: list[tuple[str, ShownSource | None]] = []
    known: dict[int, ShownSource] = {}
    for sentence in sentences:
        own = {one["number"]: _source(one) for one in sentence["sources"]}
        known |= own
        pieces += [*_pieces(str(sentence["text"]), own), (" ", None)]
    # The first sentence says what the line above says.
    brief = " ".join(_NUMBER.sub("", str(one["text"])) for one in sentences[1:] or sentences)
    return ShownWritten(
        tuple(pieces), tuple(known.values()), brief, "\n".join([question, "", *written_lines(sentences)])
    )


def _source(one: Json) -> ShownSource:
    place = LOOKED_UP if one["rank"] is None else f"result-{one['rank']}"
    return ShownSource(one["number"], one["name"] or "What was looked up", one["evidence"], place)


def _pieces(text: str, sources: Mapping[int, ShownSource]) -> list[tuple[str, ShownSource | None]]:
    """Return a sentence cut behind the number of each of its sources; numbers in names stay text."""
    pieces: list[tuple[str, ShownSource | None]] = []
    at = 0
    for found in _NUMBER.finditer(text):
        if (source := sources.get(int(found.group(1)))) is not None:
            pieces.append((text[at : found.start()], source))
            at = found.end()
    return [*pieces, (text[at:], None)]
