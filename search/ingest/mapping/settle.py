"""Settles columns that can be read in two ways by the columns beside them: one program wrote the whole table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from search.ingest.formats import NUMBER_FORMATS
from search.ingest.mapping.decide import Decision, MappingChoice
from search.ingest.mapping.sniff import Sniffed


def settled(files: Sequence[Sniffed]) -> list[Sniffed]:
    """Return the files with every open decision that the other columns of its file, else of all files, settle."""
    everywhere = [(f"'{name}' in {one.file.path}", found) for one in files for name, found in one.decisions.items()]
    return [_settled(one, everywhere) if any(_open(one)) else one for one in files]


def _open(sniffed: Sniffed) -> Iterable[str]:
    return (name for name, found in sniffed.decisions.items() if found.choices)


def _settled(sniffed: Sniffed, everywhere: list[tuple[str, Decision]]) -> Sniffed:
    here = [(f"'{name}'", found) for name, found in sniffed.decisions.items()]
    decisions = dict(sniffed.decisions)
    for name in _open(sniffed):
        found = decisions[name]
        chosen = _chosen(found.choices, here) or _chosen(found.choices, everywhere)
        if chosen:
            choice, where = chosen
            because = f"{choice.example!r} is {choice.read}, as the column {where} is written so"
            written = "" if choice.format in ("1234.5", "iso") else choice.format
            decisions[name] = replace(found, kind=choice.kind, format=written, because=because, open="", choices=())
    return replace(sniffed, decisions=decisions)


def _chosen(choices: tuple[MappingChoice, ...], others: list[tuple[str, Decision]]) -> tuple[MappingChoice, str] | None:
    """Return the only choice that other columns speak for, and the first of these columns."""
    spoken = {
        choice: where
        for where, found in reversed(others)
        for choice in choices
        if found.kind == choice.kind and _same_way(choice, found)
    }
    return next(iter(spoken.items())) if len(spoken) == 1 else None


def _same_way(choice: MappingChoice, found: Decision) -> bool:
    if choice.kind == "date":
        return found.format == choice.format
    return found.mark == NUMBER_FORMATS[choice.format][1]
