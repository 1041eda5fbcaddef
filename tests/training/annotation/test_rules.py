"""Arguments of rules: what is read, and every fault with its place."""

from __future__ import annotations

from uuid import uuid4

import pytest

from search.domain.errors import InvalidRequest
from training.annotation.guidelines import default_guideline
from training.annotation.rules import RULES, RuleArguments


def test_arguments_are_read_with_the_defaults_of_their_rule() -> None:
    one = uuid4()
    read = RuleArguments.parse("lost", {"evaluations": [str(one)], "stages": ["planned"], "depth": 7})
    assert (read.evaluations, read.stages, read.depth, read.per_question) == ((one,), ("planned",), 7, 1)
    assert RuleArguments.parse("random", {"evaluations": [str(one)]}).depth == 20


def test_every_fault_is_told_with_its_place() -> None:
    given = {"evaluations": ["no id"], "stages": ["plannd"], "depth": 0, "margin": 0.5}
    with pytest.raises(InvalidRequest) as raised:
        RuleArguments.parse("lost", given)
    faults = {fault.pointer: fault.sentence for fault in raised.value.faults}
    assert set(faults) == {
        "/arguments/evaluations", "/arguments/stages", "/arguments/depth", "/arguments/margin",
    }  # fmt: skip
    assert "Did you mean 'planned'?" in faults["/arguments/stages"]
    assert "takes no 'margin'" in faults["/arguments/margin"]


@pytest.mark.parametrize(
    ("rule", "given", "sentence"),
    [
        ("margins", {}, "A rule is one of"),
        ("margin", {}, "needs an evaluation to look at"),
        ("disagreement", {"searches": [str(uuid4())]}, "One search alone disagrees with nobody"),
        ("disagreement", {"searches": [str(uuid4())] * 2, "evaluations": [str(uuid4())]}, "not both"),
        ("feedback", {"kinds": ["good"]}, "kinds are some of: right, wrong, missing"),
    ],
)
def test_a_rule_says_what_it_needs(rule: str, given: dict[str, object], sentence: str) -> None:
    with pytest.raises(InvalidRequest, match=sentence):
        RuleArguments.parse(rule, given)


def test_every_rule_has_a_guideline_with_every_grade_and_its_key() -> None:
    for rule in RULES:
        text = default_guideline(rule)
        assert all(f"- **{grade}** (key `{grade}`)" in text for grade in range(4))
