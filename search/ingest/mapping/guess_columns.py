"""Guesses how a column that is neither id, name nor type is used: as a field of some kind, as edges, or not at all."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Any

from search.ingest.fields import FieldKinds, is_date, is_plain_number, scalar
from search.ingest.mapping.amounts import named_with_unit
from search.ingest.mapping.decide import Decision
from search.ingest.mapping.guess_lists import parts_of, separator_of
from search.ingest.mapping.guess_roles import LINK, plain
from search.ingest.mapping.mapping import ColumnMapping
from search.ingest.mapping.references import Reference, stem_of
from search.ingest.mapping.sniff import Sniffed

NEARLY_SHARE = 0.5
"""Share of numbers or dates among short values, from which on the reason says so."""
MOST_SHOWN, LONGEST_SHOWN = 3, 30
"""Values that are shown as exceptions, and their length in characters."""


@dataclass(frozen=True, slots=True)
class Guessed:
    """A guessed use of a column and the reason. `told` is what the report of an import says of it, often nothing."""

    column: ColumnMapping
    because: str
    told: str = ""


def guess_fields(sniffed: Sniffed, column: str, own: str, reference: Reference | None = None) -> Guessed:
    """Return the use of a column; `own` is the kind of this file's things, empty for edges."""
    values = sniffed.values(column)
    decision = sniffed.decision(column)
    guessed = _guessed(sniffed, column, values, decision, own, reference)
    if not decision.missing or guessed.column.use in ("ignore", "url"):
        return guessed
    words = f"{', '.join(map(repr, decision.missing))} in it stands for no value"
    told = f"{guessed.told}; {words}" if guessed.told else words
    return Guessed(replace(guessed.column, missing=decision.missing), f"{guessed.because}; {words}", told)


def _guessed(
    sniffed: Sniffed, column: str, values: list[Any], decision: Decision, own: str, reference: Reference | None
) -> Guessed:
    if not values and not decision.kind:
        return Guessed(ColumnMapping("field"), "it is empty in the first rows, so its kind is inferred from all rows")
    if any(_is_object(value) for value in values):
        return Guessed(ColumnMapping("ignore"), "its values are objects, which a field cannot hold")
    if reference and own:
        return Guessed(reference_column(column, reference), reference.because)
    if decision.kind:
        return _decided(column, decision, whole=sniffed.whole)
    separator, listed = separator_of(values, sniffed.file.format)
    items = [item for value in values for item in parts_of(value, separator) if item not in decision.missing]
    if decision.open:
        separator, listed = "", False
        items = values
    if own and plain(column) in ("aliases", "synonyms", "alias", "also_known_as", "alternative_names"):
        return Guessed(ColumnMapping("aliases", separator=separator), "its name says so")
    if own and plain(column) in ("url", "link", "homepage", "website") and all(LINK.fullmatch(str(v)) for v in values):
        return Guessed(ColumnMapping("url"), "its name says so, and its values are web addresses")
    guessed = _field(items, separator, listed, complete=sniffed.whole)
    if not decision.open:
        return guessed
    because = f"what its numbers or dates mean cannot be told, so they stay texts: {decision.open}"
    texts = guessed.column if guessed.column.use == "text" else replace(guessed.column, use="keyword")
    return Guessed(texts, because, because)


def _decided(column: str, decision: Decision, *, whole: bool) -> Guessed:
    because = decision.because if whole else decision.because.replace("its values", "its first values")
    if decision.kind == "number":
        called = named_with_unit(column, decision.unit)
        used = ColumnMapping("number", name=called, numbers=decision.format, unit=decision.unit)
    else:
        used = ColumnMapping("date", dates=decision.format)
    return Guessed(used, because, because if decision.format or decision.unit or "; but " in because else "")


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


def reference_column(column: str, found: Reference) -> ColumnMapping:
    """Return the use `edge` of a column that refers to the rows of a table."""
    stem = stem_of(column)
    relation = re.sub(r"s$", "", stem) if found.separator and not stem.endswith("ss") else stem
    relation = f"has_{relation}" if stem != plain(column) and found.named else relation
    return refers(ColumnMapping("edge", separator=found.separator, relation=relation), found)


def refers(used: ColumnMapping, found: Reference) -> ColumnMapping:
    """Return a column of references with the table whose rows it means."""
    return replace(used, of=found.key.sniffed.file.path, by=found.by) if found.by else used


def is_text(sniffed: Sniffed, column: str) -> bool:
    """Whether a column holds texts of several words, which are read and not compared."""
    values = sniffed.values(column)
    return bool(values) and _field(values, "", listed=False, complete=True).column.use == "text"


def _is_object(value: Any) -> bool:
    return isinstance(value, dict) or (isinstance(value, list) and any(isinstance(item, dict) for item in value))
