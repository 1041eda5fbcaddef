"""What each rule, cue row and feature of the grammar brings: how often it fires, answers won and lost without it.

`python -m benchmarks ledger [--sets geo,asked] [--bases …] [--ids rule:meet,head-agrees] [--first 10] [--save FILE]`:
one id after the other is left out, and the questions in whose reading it took part are read again. `rule:NAME` is a
rule of grammar.toml, a kind of annotation (`rule:name-near`) or a row of closed words (`rule:cue-NOT`); the other ids
are features. An answer counts where the first plan finds exactly the expected nodes.
"""

from __future__ import annotations

import json
from argparse import ArgumentParser, Namespace
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from benchmarks.common import NotHere, show, table
from benchmarks.question_sets import APART, QuestionSet
from benchmarks.reading import add_choice, wanted_sets
from benchmarks.reading_outcome import SECONDS, Reader
from search.domain.trace import Limit
from search.stages.plan import Planner
from search.stages.plan.annotate import Annotated
from search.stages.plan.derivation import Derivation
from search.stages.plan.grammar import GrammarWeights, grammar
from search.stages.plan.parse import Parser
from training.data.examples import Example, spread

RULE = "rule:"
SHOWN = 10
ENOUGH = 2
"""Bases on which an id has to win answers."""


@dataclass
class Row:
    """One line of the ledger: what an id brings on each base.

    `read` is the number of questions in whose reading it took part, `fired` of those in whose best reading it stands.
    `won` and `lost` are answers that it brings and that it costs.
    """

    id: str
    read: int = 0
    fired: int = 0
    won: dict[str, int] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)

    @property
    def net(self) -> int:
        """Answers that are lost without it."""
        return sum(self.won.values()) - sum(self.lost.values())

    @property
    def bases(self) -> list[str]:
        """The bases on which it wins more answers than it costs."""
        return [base for base, won in self.won.items() if won > self.lost.get(base, 0)]

    def count(self, base: str, *, before: bool, without: bool) -> None:
        """Count one question, right or wrong with the id and without it."""
        if before != without:
            counted = self.won if before else self.lost
            counted[base] = counted.get(base, 0) + 1


class Noted(dict[str, float]):
    """Weights by name that note which of them were asked for."""

    def __init__(self, of: Mapping[str, float]) -> None:
        super().__init__(of)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        """Return the weight of a name, and note the name."""
        self.names.add(name)
        return super().get(name, default)


def main(arguments: Sequence[str] = ()) -> None:
    """Print the ledger. Raises NotHere if there are no questions, or no knowledge base for them."""
    options = _options(arguments)
    torch.set_num_threads(1)
    rows: dict[str, Row] = {one: Row(one) for one in known_ids()}
    is_empty = True
    for base, own in groupby(wanted_sets(options), key=lambda one: one.base):
        questions = list(_questions(own, options.split, options.most))
        reader = Reader.of(base)
        right = Base(reader, set(filter(None, options.ids.split(",")))).count(rows, questions)
        is_empty = False
        show(f"{base}: {right} of {len(questions)} answers")
        if options.save:
            lines = [json.dumps({**asdict(row), "net": row.net}, ensure_ascii=False) for row in rows.values()]
            options.save.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if is_empty:
        raise NotHere("no question was read: import the knowledge bases first")
    _show([row for row in rows.values() if not options.ids or row.id in options.ids.split(",")], options.first)


def known_ids() -> list[str]:
    """Return the ids of the rules of the grammar, and of everything that has a weight."""
    rules = [RULE + rule.id for rule in grammar().rules]
    return list(dict.fromkeys([*rules, *GrammarWeights.read().of]))


class Base:
    """A base whose questions are read with everything, and with one id left out; `ids` are those wanted, or all."""

    def __init__(self, reader: Reader, ids: set[str]) -> None:
        assert isinstance(reader.planner, Planner)
        self.reader, self.planner, self.ids = reader, reader.planner, ids
        self._known: dict[str, list[int]] = {}
        # What words may mean is the same whatever rule of the grammar is left out, and is looked up once.
        self._annotated = cache(self.planner.reader.annotator)

    def count(self, rows: dict[str, Row], questions: Sequence[Example]) -> int:
        """Count the questions in the rows of the ids, and return how many are answered with everything."""
        noted = Noted(GrammarWeights.read().of)
        whole = self.variant(weights=GrammarWeights(noted))
        taking: dict[str, list[tuple[Example, bool]]] = {}
        right = 0
        for example in questions:
            noted.names.clear()
            is_right = self.is_right(whole, example)
            right += is_right
            # A weight of 0 is left out already.
            for name in sorted(noted.names):
                if (not self.ids or name in self.ids) and (name.startswith(RULE) or noted.get(name)):
                    taking.setdefault(name, []).append((example, is_right))
            for name in self._fired(whole, example):
                rows.setdefault(name, Row(name)).fired += 1
        for name, those in taking.items():
            row = rows.setdefault(name, Row(name))
            row.read += len(those)
            without = self.without(name)
            for example, before in those:
                row.count(self.reader.base, before=before, without=self.is_right(without, example))
        return right

    def _fired(self, planner: Planner, example: Example) -> set[str]:
        read = planner.reader.read(example.text, Limit.seconds(SECONDS))
        return {name for name, value in read[0].all_features().items() if value} if read else set()

    def variant(self, **changes: Any) -> Planner:
        """Return the planner with changes of its reader."""
        planner = replace(self.planner)
        planner.__dict__["reader"] = replace(self.planner.reader, **changes)
        return planner

    def without(self, name: str) -> Planner:
        """Return the planner without a rule, without annotations of a kind, or without a feature."""
        if not name.startswith(RULE):
            return self.variant(weights=GrammarWeights({**GrammarWeights.read().of, name: 0.0}))
        planner, rule = self.variant(), name.removeprefix(RULE)
        parser = planner.reader.parser
        left_out = replace(parser, grammar=replace(parser.grammar, without=frozenset({rule})))
        planner.reader.__dict__["parser"] = _Without(left_out, rule)
        planner.reader.__dict__["annotator"] = self._annotated
        return planner

    def is_right(self, planner: Planner, example: Example) -> bool:
        """Whether the first plan of a question finds exactly the answers."""
        plans, _ = replace(self.reader, planner=planner).planned(example.text)
        told = repr(plans[0].plan)
        if told not in self._known:
            self._known[told] = self.reader.executed(plans[0])
        found = self._known[told]
        expected = {key for key in self.reader.tools.nodes.keys(example.answers) if key is not None}
        return bool(found) and set(found) == expected


@dataclass(frozen=True)
class _Without:
    """A parser that is not given the annotations of a rule."""

    parser: Parser
    rule: str

    def __call__(self, annotated: Annotated, check: Callable[[], None]) -> list[Derivation]:
        kept = [one for one in annotated.annotations if one.rule != self.rule]
        return self.parser(replace(annotated, annotations=kept), check)


def _options(arguments: Sequence[str]) -> Namespace:
    parser = ArgumentParser(prog="python -m benchmarks ledger", description=__doc__)
    add_choice(parser)
    parser.add_argument("--ids", default="", help="only these ids, with commas between them")
    parser.add_argument("--most", type=int, help="questions of a set at most, spread over all")
    parser.add_argument(
        "--first", type=int, default=SHOWN, help="rows that are shown of the best and the worst; 0: all"
    )
    parser.add_argument("--save", type=Path, help="write every row to this file")
    return parser.parse_args(arguments)


def _questions(sets: Iterable[QuestionSet], split: str, most: int | None) -> Iterator[Example]:
    """Yield at most `most` questions of each set, but for those about texts."""
    for one in sets:
        try:
            yield from spread([row for row in one.examples(split) if row.slices["kind"] not in APART], most)
        except NotHere as reason:
            show(f"ledger: {reason}; left out.")


def _show(rows: Sequence[Row], first: int) -> None:
    """Print the rows that bring most and those that bring least, and the ids that bring nothing on enough bases."""
    ordered = sorted(rows, key=lambda row: (-row.net, -len(row.bases), row.id))
    ends = ordered if not first or len(ordered) <= 2 * first else [*ordered[:first], *ordered[-first:]]
    columns = ("id", "in readings of", "fired", "answers won", "lost", "net", "by base")
    table(f"The ledger: {len(rows)} ids; answers that each brings", columns, map(_line, ends))
    silent = sorted(row.id for row in ordered if not row.fired)
    idle = sorted(row.id for row in ordered if row.fired and len(row.bases) < ENOUGH)
    show(f"{len(silent)} never fire: {', '.join(silent)}", markup=False)
    show(f"{len(idle)} fire, and win answers on fewer than {ENOUGH} bases: {', '.join(idle)}", markup=False)


def _line(row: Row) -> tuple[object, ...]:
    bases = dict.fromkeys([*row.won, *row.lost])
    told = " ".join(f"{base} +{row.won.get(base, 0)}−{row.lost.get(base, 0)}" for base in bases)
    return row.id, row.read, row.fired, sum(row.won.values()), sum(row.lost.values()), row.net, told
