"""Finds what stands below a table: rows of sums, and notes where the data come from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose
from typing import Any

from search.ingest.formats import number_reader
from search.ingest.mapping.amounts import number_in
from search.ingest.mapping.decide import Decision

MOST_BELOW = 3
"""Most last rows that are looked at."""
USUAL = 0.9
"""Share of the rows above in which a cell is filled, from which on a row without it is unlike them."""
FEWEST = 3
"""Rows of a table above, and numbers of a column whose sum is looked for."""
WORDS_OF_NOTE = 3
TOTALS = frozenset((
    "total", "totals", "sum", "sums", "grand total", "subtotal", "summe", "summen", "gesamt", "gesamtsumme",
    "insgesamt", "zusammen", "totaux", "somme", "totale", "totales", "suma", "somma", "totaal", "summa", "итого",
    "всего", "合计", "合計", "总计",
))  # fmt: skip
"""First words of a row of sums."""


def rows_below(rows: Sequence[Mapping[str, Any]], decisions: Mapping[str, Decision]) -> int:
    """Return how many of the last rows belong to no row of the table: sums of its columns, or notes."""
    found = 0
    for count in range(1, MOST_BELOW + 1):
        above = rows[:-count]
        if len(above) < FEWEST:
            break
        if _is_below(rows[-count], above, decisions):
            found = count
    return found


def _is_below(row: Mapping[str, Any], above: Sequence[Mapping[str, Any]], decisions: Mapping[str, Decision]) -> bool:
    filled = [name for name, cell in row.items() if str(cell or "").strip()]
    usual = [name for name in row if sum(bool(one.get(name)) for one in above) >= USUAL * len(above)]
    lacking = [name for name in usual if name not in filled]
    if not lacking or not filled:
        return False
    first = str(row[filled[0]]).strip()
    if first.rstrip(" :").casefold() in TOTALS:
        return True
    if len(filled) == 1 and len(lacking) > 1 and (len(first.split()) >= WORDS_OF_NOTE or ":" in first):
        return True
    return any(_is_sum(name, row, above, decisions[name]) for name in filled if name in decisions)


def _is_sum(name: str, row: Mapping[str, Any], above: Sequence[Mapping[str, Any]], decision: Decision) -> bool:
    if decision.kind != "number":
        return False
    read = number_reader(decision.format or "1234.5")
    values = []
    for one in (*above, row):
        text = str(one.get(name) or "").strip()
        try:
            values.append(read(number_in(text, decision.unit)) if text else 0)
        except ValueError:
            values.append(0)
    return values[-1] != 0 and sum(map(bool, values)) > FEWEST and isclose(values[-1], sum(values[:-1]), rel_tol=1e-9)
