"""What holds for the reading of every question: coverage, order of rules, bounded work, and plans that say the same."""

from __future__ import annotations

import itertools
import random
from dataclasses import replace
from typing import Any

import pytest

from search.domain.linking import LinkedPlan
from search.domain.plan import Plan, ScoredPlan
from search.domain.plan.normal_form import contradictions
from search.domain.trace import Limit
from search.stages.plan.annotate import MOST_TOKENS
from search.stages.plan.grammar import GrammarWeights, grammar
from search.stages.plan.parse import Parser
from search.stages.plan.read import Reader, Tried
from tests.questions import asked
from tests.questions.asked import BASES
from tests.questions.bases import Base
from tests.questions.recorded import Recorded

STEEPER = 9.0
"""Four times the words may cost that much more: twice what is in proportion."""
SEED = 7
"""Draws the order of the rules."""
Readings = dict[str, list[tuple[str, list[Tried]]]]
"""Base → its questions, each with its readings."""


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Base]:
    encoder = Recorded()
    return {name: Base.of(name, tmp_path_factory.mktemp(name), encoder) for name in BASES}


@pytest.fixture(scope="module")
def readings(bases: dict[str, Base]) -> Readings:
    found: Readings = {name: [] for name in BASES}
    for one in (*asked.written(), *asked.of_demos()):
        found[one.base].append((one.text, bases[one.base].planner.reader.read(one.text, Limit())))
    return found


@pytest.mark.xfail(strict=True, reason="further walks to any node, and back to the start, are tried otherwise")
@pytest.mark.parametrize("name", BASES)
def test_a_plan_finds_what_its_reading_found_when_it_was_tried(
    bases: dict[str, Base], readings: Readings, name: str
) -> None:
    base, unlike = bases[name], []
    for text, read in readings[name]:
        for one in read:
            if one.asked is not None and (told := differs(base, one)):
                unlike.append(f"{text}: {told}")
    assert unlike == []


def differs(base: Base, one: Tried) -> str:
    """Return how a reading and its plan differ in what they find; empty if they agree."""
    linked: LinkedPlan = base.link([ScoredPlan(one.plan, "schema", 1.0)], Limit())[0]
    if not linked.is_executable:
        return "" if one.plan.reads_type or not one.plan.anchors else f"cannot be executed: {one.plan.to_json()}"
    plan = {candidate.key for candidate in base.demo.stage.graph.execute(linked, Limit()).candidates}
    return "" if plan == set(one.found.tolist()) else f"{len(one.found)} tried, {len(plan)} by {one.plan.to_json()}"


@pytest.mark.parametrize("name", BASES)
def test_a_plan_is_one_that_the_language_of_plans_has(bases: dict[str, Base], readings: Readings, name: str) -> None:
    schema = bases[name].demo.schema
    for text, read in readings[name]:
        for one in read:
            assert Plan.parse(one.plan.to_json(), schema) == one.plan, text
            assert contradictions(one.plan, schema) == [], text


@pytest.mark.parametrize("name", BASES)
def test_every_word_means_something_once_or_is_left_over(bases: dict[str, Base], readings: Readings, name: str) -> None:
    reader = bases[name].planner.reader
    for text, read in readings[name]:
        said = reader.annotator(reader.worded(text).text)
        for one in read:
            for step in one.derivation.steps():
                ends = [(child.start, child.end) for child in step.children]
                assert all(step.start <= start < end <= step.end for start, end in ends), text
                assert all(before[1] <= after[0] for before, after in itertools.pairwise(ends)), text
                covered = 0
                for child in step.children:
                    assert covered & child.covered == 0, text
                    covered |= child.covered
                assert not step.children or covered == step.covered, text
            words = [said.text[token.start : token.end] for token in said.tokens]
            left = [
                word for at, word in enumerate(words)
                if said.content[at] and not one.derivation.covered >> at & 1
            ]  # fmt: skip
            assert one.asked is None or one.left.split() == " ".join(left).split(), text


@pytest.mark.parametrize("name", BASES)
def test_the_order_of_the_rules_does_not_matter(bases: dict[str, Base], readings: Readings, name: str) -> None:
    reader = bases[name].planner.reader
    rules = list(grammar().rules)
    random.Random(SEED).shuffle(rules)
    shuffled = with_parser(reader, replace(reader.parser, grammar=replace(reader.parser.grammar, rules=tuple(rules))))
    for text, read in readings[name]:
        expected = [(one.plan, pytest.approx(one.score)) for one in read[:1]]
        assert [(one.plan, one.score) for one in shuffled.read(text, Limit())[:1]] == expected, text


def with_parser(reader: Reader, parser: Parser) -> Reader:
    """Return a reader with another parser."""
    changed = replace(reader)
    changed.__dict__["parser"] = parser
    return changed


class Counted(dict[str, float]):
    """Weights that count how often they are asked for, at least once for each derivation that is made."""

    times = 0

    def get(self, name: str, default: Any = None) -> Any:
        self.times += 1
        return super().get(name, default)


REPEATED = [("products", "or red "), ("papers", "papers that cite papers "), ("biomedical", "drugs without cough ")]


@pytest.mark.parametrize(("name", "piece"), REPEATED[:1])
def test_words_behind_those_that_are_read_cost_nothing(bases: dict[str, Base], name: str, piece: str) -> None:
    assert made(bases[name], piece * 4 * MOST_TOKENS) == made(bases[name], piece * MOST_TOKENS)


def test_four_times_the_words_cost_about_four_times_the_work(bases: dict[str, Base]) -> None:
    steep = {}
    for name, piece in REPEATED:
        words = (piece * MOST_TOKENS).split()
        short, long = (made(bases[name], " ".join(words[:count])) for count in (MOST_TOKENS // 4, MOST_TOKENS))
        if long > STEEPER * short:
            steep[piece] = long / short
    assert steep == {}


def made(base: Base, text: str) -> int:
    """Return how often reading a question asks for a weight."""
    counted = Counted(GrammarWeights.read().of)
    reader = replace(base.planner.reader, weights=GrammarWeights(counted))
    assert reader.parser(reader.annotator(reader.worded(text).text))
    return counted.times
