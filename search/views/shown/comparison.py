"""A comparison as its page shows it: columns of cards, lines between them, plans with what differs, and agreement."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.rank_table import TOP
from search.models import SearchRun
from search.sentences.values import type_words
from search.services.searches.compare_searches import compare_described
from search.services.searches.describe_search import describe_search
from search.views.shown.follow_up import PARTS
from search.views.shown.search import ShownSearch, relations_of, show_search

Json = Mapping[str, Any]
ROW = 100
"""Height of a card in the drawing of the lines, in its own units; as wide as the drawing is."""


@dataclass(frozen=True, slots=True)
class Elsewhere:
    """The rank of a result in another column; None where that column does not list it."""

    pipeline: str
    rank: int | None


@dataclass(frozen=True, slots=True)
class ComparisonCard:
    """A result in a column."""

    rank: int
    id: str
    type: str
    name: str
    elsewhere: tuple[Elsewhere, ...]
    only_here: bool


@dataclass(frozen=True, slots=True)
class RankLine:
    """A line from a result of one column to the same result of the next one.

    `kind` is `same`, `up` or `down`; a result that stands below the shown part of one column is `out`.
    """

    name: str
    before: int
    after: int
    kind: str
    path: str


@dataclass(frozen=True, slots=True)
class ComparedPart:
    """A part of a column's plan, and a word for which plans have it."""

    part: str
    text: str
    kind: str
    mark: str


@dataclass(frozen=True, slots=True)
class ComparisonColumn:
    """A search of the comparison. `plan` is None where the pipeline uses no plan, or has none yet.

    No other column has its title.
    """

    search: ShownSearch
    title: str
    cards: tuple[ComparisonCard, ...]
    results: int
    plan: tuple[ComparedPart, ...] | None
    lines: tuple[RankLine, ...]
    """The lines to the next column; none for the last."""
    last: bool
    more: int


@dataclass(frozen=True, slots=True)
class ShownAgreement:
    """How far two columns agree."""

    first: str
    second: str
    same: int
    depth: int
    overlap: float | None
    common: int
    correlation: float | None


@dataclass(frozen=True, slots=True)
class TableRow:
    """A result with its rank in each column, for the table that says the same as the lines."""

    id: str
    type: str
    name: str
    ranks: tuple[int | None, ...]


@dataclass(frozen=True)
class ShownComparison:
    """A comparison ready to print."""

    question: str
    knowledge_base: str
    columns: tuple[ComparisonColumn, ...]
    agreement: tuple[ShownAgreement, ...]
    table: tuple[TableRow, ...]
    rows: int
    plans_differ: bool | None
    """Whether a part is not in every plan; None where fewer than two columns have a plan."""
    releases: tuple[str, ...]
    """Names of the releases, if the searches used different ones."""

    @property
    def matrix(self) -> list[tuple[str, list[ShownAgreement | None]]]:
        """The agreement of every two columns as rows of a table; None on the diagonal. Empty for two columns."""
        titles = [column.title for column in self.columns]
        pairs = {frozenset((one.first, one.second)): one for one in self.agreement}
        if len(titles) < 3 or not pairs:
            return []
        return [
            (row, [pairs.get(frozenset((row, other))) if row != other else None for other in titles]) for row in titles
        ]

    @property
    def pending(self) -> bool:
        """Whether a column is unfinished, so that the page has to keep asking for changes."""
        return any(column.search.pending for column in self.columns)

    @property
    def mark(self) -> str:
        """A text that changes whenever a column has something new to show."""
        return "_".join(column.search.mark for column in self.columns)

    @property
    def height(self) -> int:
        """The height of the drawings of lines."""
        return self.rows * ROW


def show_comparison(runs: Sequence[SearchRun]) -> ShownComparison:
    """Return the comparison of searches in any state, in their order; they are of one question."""
    described = [describe_search(run) for run in runs]
    searches = [show_search(one, relations_of(run)) for one, run in zip(described, runs, strict=True)]
    return lay_out(compare_described(described), searches)


def lay_out(compared: Json, searches: Sequence[ShownSearch]) -> ShownComparison:
    """Return a comparison (`compare_described`) with its searches as the values that the page prints."""
    ranks = {entry["node"]["id"]: entry["ranks"] for entry in compared["nodes"]}
    names = {entry["node"]["id"]: entry["node"]["name"] for entry in compared["nodes"]}
    told = compared["searches"]
    titles = _titles(searches)
    rows = max([min(one["results"], TOP) for one in told], default=0)
    finished = [one["status"] == "done" for one in told]
    columns = tuple(
        ComparisonColumn(
            search=search,
            title=titles[at],
            cards=tuple(_cards(search, at, one, ranks, titles, finished)),
            results=one["results"],
            plan=None if one["plan"] is None else tuple(_parts(one["plan"], titles, told)),
            lines=tuple(_lines(at, ranks, names, rows)) if at + 1 < len(told) else (),
            last=at + 1 == len(told),
            more=max(0, one["results"] - TOP),
        )
        for at, (one, search) in enumerate(zip(told, searches, strict=True))
    )
    plans = [column.plan for column in columns if column.plan is not None]
    releases = tuple(dict.fromkeys(one["release"] or "" for one in told))
    return ShownComparison(
        question=compared["question"], knowledge_base=compared["knowledge_base"], columns=columns,
        agreement=tuple(_agreement(one, titles) for one in compared["agreement"]),
        table=tuple(
            TableRow(entry["node"]["id"], type_words(entry["node"]["type"]), entry["node"]["name"],
                     tuple(entry["ranks"]))
            for entry in compared["nodes"]
        ),
        rows=rows,
        plans_differ=any(part.kind != "kept" for parts in plans for part in parts) if len(plans) > 1 else None,
        releases=releases if len(releases) > 1 else (),
    )  # fmt: skip


def _titles(searches: Sequence[ShownSearch]) -> list[str]:
    """Return a title for each column: its pipeline with its version, and what else sets it apart from others.

    That is the release where the pipelines are the same, and the place where the releases are, too: a search that was
    asked again.
    """
    titles = [f"{one.pipeline_title} {one.version or ''}".strip() for one in searches]
    apart = [f"{title} over {one.release}" for title, one in zip(titles, searches, strict=True)]
    titles = [more if titles.count(title) > 1 else title for title, more in zip(titles, apart, strict=True)]
    counts = [titles[: at + 1].count(title) for at, title in enumerate(titles)]
    return [f"{title} ({nth})" if titles.count(title) > 1 else title for title, nth in zip(titles, counts, strict=True)]


def _cards(
    search: ShownSearch, at: int, told: Json, ranks: Mapping[str, Sequence[int | None]], titles: Sequence[str],
    finished: Sequence[bool],
) -> Iterator[ComparisonCard]:  # fmt: skip
    alone = set(told["only_here"] or ())
    for result in search.results[:TOP]:
        elsewhere = tuple(
            Elsewhere(titles[other], rank)
            for other, rank in enumerate(ranks[result.id])
            if other != at and finished[other]
        )
        yield ComparisonCard(result.rank, result.id, result.type, result.name, elsewhere, result.id in alone)


def _lines(
    at: int, ranks: Mapping[str, Sequence[int | None]], names: Mapping[str, str], rows: int
) -> Iterator[RankLine]:
    """Yield the lines of the results that both columns list, and at least one of them shows."""
    for node, places in ranks.items():
        before, after = places[at], places[at + 1]
        if before is None or after is None or min(before, after) > TOP:
            continue
        out = max(before, after) > TOP
        kind = "out" if out else "same" if before == after else "up" if after < before else "down"
        start, end = (rows * ROW if rank > TOP else rank * ROW - ROW // 2 for rank in (before, after))
        middle = ROW // 2
        yield RankLine(names[node], before, after, kind, f"M0 {start}C{middle} {start} {middle} {end} {ROW} {end}")


def _parts(plan: Sequence[Json], titles: Sequence[str], told: Sequence[Json]) -> Iterator[ComparedPart]:
    """Yield the parts of a plan; a part that every plan has is `kept`, any other `added`."""
    planned = [at for at, one in enumerate(told) if one["plan"] is not None]
    for part in plan:
        there = part["searches"]
        if there == planned:
            kind, mark = "kept", "in every plan" if len(planned) > 1 else ""
        else:
            without = ", ".join(titles[at] for at in planned if at not in there)
            kind, mark = "added", "only here" if len(there) == 1 else f"not in {without}"
        yield ComparedPart(PARTS[part["part"]], part["text"], kind, mark)


def _agreement(told: Json, titles: Sequence[str]) -> ShownAgreement:
    return ShownAgreement(
        titles[told["first"]], titles[told["second"]], told["same"], told["depth"], told["overlap"], told["common"],
        told["correlation"],
    )  # fmt: skip
