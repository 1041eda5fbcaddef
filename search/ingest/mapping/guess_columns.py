"""Guesses how a column that is neither id, name nor type is used: as a field of some kind, as edges, or not at all."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from search.ingest.fields import FieldKinds, is_date, is_plain_number, scalar
from search.ingest.mapping.decide import Decision
from search.ingest.mapping.guess_roles import NAMES_AS_IDS, id_column, plain
from search.ingest.mapping.mapping import ColumnMapping
from search.ingest.mapping.sniff import Sniffed

SEPARATORS = ("|", ";", ", ", ",")
LIST_SHARE = 0.3
"""Share of the values of a column that contain the separator, from which on the column is taken for lists."""
RECURRING = 0.5
"""Share of the parts of a column that occur more than once, from which on short lists are taken for lists."""
LONGEST_ITEM = 40
"""Most characters, on average, of the parts of a list: the commas of sentences separate nothing."""
KNOWN_SHARE = 0.5
"""Share of a column's first values that are ids in the sample of another file, from which on it is taken for edges."""
NEARLY_SHARE = 0.5
"""Share of numbers or dates among short values, from which on the reason says so."""
MOST_SHOWN, LONGEST_SHOWN = 3, 30
"""Values that are shown as exceptions, and their length in characters."""
LINK = re.compile(r"https?://\S+")


@dataclass(frozen=True, slots=True)
class Guessed:
    """A guessed use of a column and the reason. `told` is what the report of an import says of it, often nothing."""

    column: ColumnMapping
    because: str
    told: str = ""


def guess_fields(sniffed: Sniffed, column: str, known: Mapping[str, Sniffed], own: str) -> Guessed:
    """Return the use of a column.

    `known` holds the files of nodes by the kind of their things; `own` is this file's kind, empty for edges.
    """
    values = sniffed.values(column)
    decision = sniffed.decision(column)
    guessed = _guessed(sniffed, column, values, decision, known, own)
    if not decision.missing or guessed.column.use in ("ignore", "url"):
        return guessed
    words = f"{', '.join(map(repr, decision.missing))} in it stands for no value"
    told = f"{guessed.told}; {words}" if guessed.told else words
    return Guessed(replace(guessed.column, missing=decision.missing), f"{guessed.because}; {words}", told)


def _guessed(
    sniffed: Sniffed, column: str, values: list[Any], decision: Decision, known: Mapping[str, Sniffed], own: str
) -> Guessed:
    if not values and not decision.kind:
        return Guessed(ColumnMapping("field"), "it is empty in the first rows, so its kind is inferred from all rows")
    if any(_is_object(value) for value in values):
        return Guessed(ColumnMapping("ignore"), "its values are objects, which a field cannot hold")
    separator, listed = _separator(values, sniffed.file.format)
    items = [item for value in values for item in _parts(value, separator) if item not in decision.missing]
    if own and (edge := _edge(column, items, known, separator, own)):
        return edge
    if decision.kind:
        return _decided(decision, whole=sniffed.whole)
    if decision.open:
        separator, listed = "", False
        items = values
    if own and plain(column) in ("aliases", "synonyms", "alias", "also_known_as", "alternative_names"):
        return Guessed(ColumnMapping("aliases", separator=separator), "its name says so")
    if own and plain(column) in ("url", "link", "homepage", "website") and all(LINK.fullmatch(str(v)) for v in values):
        return Guessed(ColumnMapping("url"), "its name says so, and its values are links")
    guessed = _field(items, separator, listed, complete=sniffed.whole)
    if not decision.open:
        return guessed
    because = f"what its numbers or dates mean cannot be told, so they stay texts: {decision.open}"
    return Guessed(guessed.column, because, because)


def _decided(decision: Decision, *, whole: bool) -> Guessed:
    because = decision.because if whole else decision.because.replace("its values", "its first values")
    if decision.kind == "number":
        column = ColumnMapping("number", numbers=decision.format)
    else:
        column = ColumnMapping("date", dates=decision.format)
    return Guessed(column, because, because if decision.format or "; but " in because else "")


def _field(items: list[Any], separator: str, listed: bool, *, complete: bool) -> Guessed:
    """Return the kind of the field that the values make; not `complete` if there are more rows than were looked at."""
    kinds = FieldKinds()
    for item in items:
        value = scalar(item)
        if value is not None:
            kinds.observe(value)
    because = {
        "number": "all its first values are numbers",
        "date": "all its first values are dates",
        "keyword": "its first values are short",
        "text": "its first values are texts of several words",
    }[kinds.kind]
    if listed:
        because += f", separated by {separator!r}" if separator else ", in lists"
    use = kinds.kind
    if use == "keyword":
        because += _nearly([item for item in items if isinstance(item, str)])
    if use in ("number", "date") and not complete:
        # A later row may hold something else: an inferred kind then becomes a text, a declared one is a fault.
        return Guessed(ColumnMapping("field", separator=separator), f"{because}; the kind follows from all rows")
    return Guessed(ColumnMapping(use, separator=separator), because)


def _nearly(texts: list[str]) -> str:
    """Return that most values are numbers or dates, and which are not, as the end of a reason; else nothing."""
    for kind, fits in (("number", is_plain_number), ("date", is_date)):
        others = list(dict.fromkeys(text for text in texts if not fits(text)))
        good = sum(map(fits, texts))
        if good >= NEARLY_SHARE * len(texts) and others:
            shown = ", ".join(repr(text[:LONGEST_SHOWN]) for text in others[:MOST_SHOWN])
            more = " and others" if len(others) > MOST_SHOWN else ""
            compared = "greater than" if kind == "number" else "before and after"
            return (
                f"; but {good} of {len(texts)} are {kind}s, only {shown}{more} not: with the use 'field: {kind}' "
                f"they can be compared ({compared}), and those rows are told as bad"
            )
    return ""


def _edge(column: str, items: list[Any], known: Mapping[str, Sniffed], separator: str, own: str) -> Guessed | None:
    """Return the use `edge` if the column's name or its values point to the nodes of a file."""
    word = plain(column)
    is_key = bool(re.search(r"_(ids?|key|ref|uuid)$", word))
    stem = re.sub(r"_?(ids?|key|ref|uuid)$", "", word)
    relation = re.sub(r"s$", "", stem) if separator and not stem.endswith("ss") else stem
    ids = {kind: _ids(other, kind, column, itself=kind == own) for kind, other in known.items()}
    # The name decides before the values: where files count from 1, the ids of one are also ids of the others.
    for kind, other in known.items():
        if ids[kind] and is_key and stem.rsplit("_", 1)[-1].removesuffix("s") == kind.rsplit("_", 1)[-1]:
            because = f"its name says that it holds ids of '{kind}' ({other.file.path})"
            return Guessed(ColumnMapping("edge", separator=separator, relation=f"has_{relation}"), because)
    for kind, other in known.items():
        share = sum(str(item) in ids[kind] for item in items) / len(items) if items else 0.0
        if share >= KNOWN_SHARE and (is_key or not all(str(item).isdecimal() for item in items)):
            because = f"{share:.0%} of its first values are ids of {other.file.path}"
            return Guessed(ColumnMapping("edge", separator=separator, relation=relation or word), because)
    return None


def _ids(sniffed: Sniffed, kind: str, column: str, *, itself: bool) -> set[str]:
    """Return the ids of the first rows of a file, none if its rows are numbered.

    The rows of a file refer to `itself` by keys only: in a column of names, each cell is a name of the file.
    """
    found, because = id_column(sniffed, kind)
    if not found or (itself and (found == column or because == NAMES_AS_IDS)):
        return set()
    return {str(value) for value in sniffed.values(found)}


def _separator(values: list[Any], format_: str) -> tuple[str, bool]:
    """Return the separator of the lists in the values (empty: none), and whether they are lists at all."""
    if any(isinstance(value, list) for value in values):
        return "", True
    texts = [value for value in values if isinstance(value, str)]
    if format_ in ("jsonl", "parquet") or not texts or len(texts) < len(values):
        return "", False
    if all(text[:1] == "[" and text[-1:] == "]" for text in texts):
        return "", True
    for separator in SEPARATORS:
        split = [text.split(separator) for text in texts if separator in text]
        if len(split) < LIST_SHARE * len(texts):
            continue
        parts = [part.strip() for row in split for part in row]
        short = all(parts) and sum(map(len, parts)) <= LONGEST_ITEM * len(parts)
        if len(split) >= 2 and short and ("," not in separator or _are_lists(split)):
            return separator.strip() or separator, True
    return "", False


def _are_lists(split: list[list[str]]) -> bool:
    """Whether values with commas are lists: of few words each, of different lengths, or with parts that come again.

    `Doe, Jane`, `Oslo, Norway` and `1,51` have one comma each, and what stands before it never stands behind it.
    """
    rows = [[part.strip() for part in row] for row in split]
    parts = [part for row in rows for part in row]
    spaces = sum(part.count(" ") for part in parts)
    if spaces > 2 * len(parts) or sum(row[-1][-1:] in ".!?。" for row in rows) * 2 > len(rows):
        return False
    if spaces <= len(parts) and len({len(row) for row in rows}) > 1 and max(map(len, rows)) > 2:
        return True
    counts = Counter(parts)
    again = sum(count for count in counts.values() if count > 1) >= RECURRING * len(parts)
    return again and bool({row[0] for row in rows} & {part for row in rows for part in row[1:]})


def _parts(value: Any, separator: str) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, str) and separator:
        return [part.strip() for part in value.split(separator) if part.strip()]
    return [value]


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))
