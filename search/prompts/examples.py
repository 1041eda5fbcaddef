"""Worked examples of a prompt: the domain's own ones that fit the schema, and generated ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from search.domain.errors import PlanInvalid
from search.domain.graph import Schema
from search.domain.mending import mend
from search.domain.plan import Anchor, Count, Exclusion, Filter, Hop, Order, Plan, Target
from search.domain.plan.normal_form import contradictions
from search.prompts.briefing import MOST_NAME_CHARACTERS, Briefing
from search.prompts.files import PromptFault
from search.prompts.metapaths import MetapathWalk, joins, two_hops, walks

MOST_EXAMPLES = 20
"""Most examples in a prompt."""
ENOUGH_EXAMPLES = 4
"""If fewer of the domain's own examples fit the schema, generated ones are added."""


@dataclass(frozen=True)
class PromptExample:
    """A question and the plan that a planner should make of it."""

    question: str
    plan: Plan

    def text(self) -> str:
        """Return the example as the prompt shows it."""
        return f"Question: {self.question}\nPlan: {json.dumps(self.plan.to_json(), ensure_ascii=False)}"


def read_prompt_examples(text: str, name: str, schema: Schema) -> list[PromptExample]:
    """Return the examples of a file whose plans fit this schema.

    The file is a list of `{"question", "plan"}`. Raises PromptFault if it is not.
    """
    try:
        rows = [(row["question"], row["plan"]) for row in json.loads(text)]
    except (ValueError, TypeError, KeyError) as error:
        raise PromptFault(f"{name} is not a list of objects with question and plan.") from error
    return [example for question, plan in rows if (example := _fitting(question, plan, schema))]


def made_examples(briefing: Briefing) -> list[PromptExample]:
    """Return generated examples, one of each kind at most, from a knowledge base's relations, wordings and names."""
    made = (
        next(kind, None)
        for kind in (_one_hop(briefing, "out"), _one_hop(briefing, "in"), _chains(briefing), _meetings(briefing),
                     _without(briefing), _with_text(briefing), _filtered(briefing), _ordered(briefing),
                     _most_joined(briefing), _inside(briefing), _counted(briefing), _computed(briefing),
                     _whether(briefing), _text_alone(briefing))
    )  # fmt: skip
    return [example for example in made if example and not contradictions(example.plan, briefing.schema)]


def chosen_examples(written: Sequence[PromptExample], briefing: Briefing) -> list[PromptExample]:
    """Return the written examples, with generated ones added if too few of them fit."""
    return [*written, *(made_examples(briefing) if len(written) < ENOUGH_EXAMPLES else [])][:MOST_EXAMPLES]


def _fitting(question: str, plan: Any, schema: Schema) -> PromptExample | None:
    try:
        parsed = Plan.parse(mend(plan, schema)[0], schema)
    except PlanInvalid:
        return None
    return None if contradictions(parsed, schema) else PromptExample(question, parsed)


def _one_hop(briefing: Briefing, direction: str) -> Iterator[PromptExample]:
    for step in _answering(walks(briefing), briefing):
        if step.direction == direction:
            for name in _names(briefing, step.near, 1):
                plan = Plan((Anchor("A1", name, step.near),), (_hop("A1", step, "T"),), Target("T", (step.far,)))
                yield PromptExample(f"Which {_said(step.far)} {_clause(briefing, step)} {name}?", _sure(plan))


def _chains(briefing: Briefing) -> Iterator[PromptExample]:
    answerable = set(briefing.schema.answerable)
    for first, second in two_hops(briefing):
        if second.far not in answerable or len({first.near, first.far, second.far}) < 3:
            continue
        for name in _names(briefing, first.near, 2):
            hops = (_hop("A1", first, "X1"), _hop("X1", second, "T"))
            plan = Plan((Anchor("A1", name, first.near),), hops, Target("T", (second.far,)))
            inner = f"{_clause(briefing, second)} a {_said(first.far)} that {_clause(briefing, first)} {name}"
            yield PromptExample(f"Which {_said(second.far)} {inner}?", _sure(plan))


def _meetings(briefing: Briefing) -> Iterator[PromptExample]:
    answerable = set(briefing.schema.answerable)
    for first, second in joins(briefing):
        if first.far not in answerable:
            continue
        for one in _names(briefing, first.near, 3):
            for other in _names(briefing, second.near, 3):
                anchors = (Anchor("A1", one, first.near), Anchor("A2", other, second.near))
                plan = Plan(anchors, (_hop("A1", first, "T"), _hop("A2", second, "T")), Target("T", (first.far,)))
                said = f"{_clause(briefing, first)} {one} and {_clause(briefing, second)} {other}"
                yield PromptExample(f"Which {_said(first.far)} {said}?", _sure(plan))


def _with_text(briefing: Briefing) -> Iterator[PromptExample]:
    texted = {t.name for t in briefing.types if any(f.kind == "text" for f in t.fields)}
    for example in [*_one_hop(briefing, "out"), *_one_hop(briefing, "in")]:
        if set(example.plan.target.labels) <= texted:
            target = replace(example.plan.target, relevance_text="with an unusual history")
            question = f"{example.question.rstrip('?')}, and has an unusual history?"
            yield PromptExample(question, replace(example.plan, target=target, risk_level="normal"))


def _without(briefing: Briefing) -> Iterator[PromptExample]:
    """Yield meetings whose second condition must not hold."""
    for example in _meetings(briefing):
        (one, other), (first, second) = example.plan.anchors, example.plan.hops
        unwanted = replace(other, var="N1")
        exclusion = Exclusion((unwanted,), (replace(second, source="N1"),))
        plan = replace(example.plan, anchors=(one,), hops=(first,), exclude=(exclusion,))
        yield PromptExample(example.question.replace(" and ", ", but not one that ", 1), plan)


def _ordered(briefing: Briefing) -> Iterator[PromptExample]:
    fields = _numbers(briefing)
    for example in [*_one_hop(briefing, "in"), *_one_hop(briefing, "out")]:
        for numeric in fields.get(example.plan.target.labels[0], [])[:1]:
            order = Order(numeric, "asc", 3)
            question = f"{example.question.rstrip('?')}, and which three of them have the lowest {_said(numeric)}?"
            yield PromptExample(question, replace(example.plan, order=order))


def _most_joined(briefing: Briefing) -> Iterator[PromptExample]:
    answerable = set(briefing.schema.answerable)
    for step in walks(briefing):
        relation = briefing.schema.relation(step.relation)
        worded = relation.description if step.direction == "out" else relation.inverse
        if step.near in answerable and step.near != step.far:
            order = Order(Count(step.relation, step.direction, step.far), "desc", 1)
            plan = Plan(target=Target("T", (step.near,)), order=order, risk_level="aggressive")
            yield PromptExample(
                f"Which {_said(step.near)} {worded or 'has'} the largest number of {_said(step.far)} entities?", plan
            )


def _inside(briefing: Briefing) -> Iterator[PromptExample]:
    """Yield walks from a thing that no name but a place in an order tells: a plan inside finds it."""
    fields = _numbers(briefing)
    for step in _answering(walks(briefing), briefing):
        for numeric in fields.get(step.near, [])[:1]:
            text = f"{_said(step.near)} with the highest {_said(numeric)}"
            first = Plan(target=Target("X1", (step.near,)), order=Order(numeric, "desc", 1))
            anchor = Anchor("A1", text, step.near, plan=first)
            plan = Plan((anchor,), (_hop("A1", step, "T"),), Target("T", (step.far,)))
            yield PromptExample(f"Which {_said(step.far)} {_clause(briefing, step)} the {text}?", _sure(plan))


def _computed(briefing: Briefing) -> Iterator[PromptExample]:
    fields = _numbers(briefing)
    for example in [*_one_hop(briefing, "in"), *_one_hop(briefing, "out")]:
        kind = example.plan.target.labels[0]
        for numeric in fields.get(kind, [])[:1]:
            asked = f"What is the average {_said(numeric)} of every {_said(kind)} that"
            question = example.question.replace(f"Which {_said(kind)}", asked, 1)
            yield PromptExample(question, replace(example.plan, ask="mean", show=numeric))


def _counted(briefing: Briefing) -> Iterator[PromptExample]:
    for example in _one_hop(briefing, "in"):
        question = example.question.replace("Which ", "Count them: which ", 1)
        yield PromptExample(question, replace(example.plan, ask="how many"))


def _whether(briefing: Briefing) -> Iterator[PromptExample]:
    for example in _one_hop(briefing, "out"):
        kind = _said(example.plan.target.labels[0])
        question = example.question.replace(f"Which {kind}", f"Is there any {kind} that", 1)
        yield PromptExample(question, replace(example.plan, ask="whether"))


def _filtered(briefing: Briefing) -> Iterator[PromptExample]:
    fields = _numbers(briefing)
    for example in [*_one_hop(briefing, "in"), *_one_hop(briefing, "out")]:
        for numeric in fields.get(example.plan.target.labels[0], [])[:1]:
            condition = Filter("T", numeric, ">=", 100)
            question = f"{example.question.rstrip('?')}, with {_said(numeric)} of at least 100?"
            yield PromptExample(question, replace(example.plan, filters=(condition,)))


def _text_alone(briefing: Briefing) -> Iterator[PromptExample]:
    for node_type in briefing.types:
        if node_type.answerable and any(f.kind == "text" for f in node_type.fields):
            text = "with an unusual history"
            plan = Plan(target=Target("T", (node_type.name,), text), risk_level="no_trade")
            yield PromptExample(f"Is there a {_said(node_type.name)} {text}?", plan)


def _numbers(briefing: Briefing) -> dict[str, list[str]]:
    """Return node type → its fields that hold one number."""
    return {t.name: [f.name for f in t.fields if f.kind == "number" and not f.many] for t in briefing.types}


def _answering(steps: Iterable[MetapathWalk], briefing: Briefing) -> Iterator[MetapathWalk]:
    answerable = set(briefing.schema.answerable)
    return (step for step in steps if step.far in answerable and step.near != step.far)


def _hop(source: str, step: MetapathWalk, to_var: str) -> Hop:
    return Hop(source, step.relation, to_var, step.far, step.direction if step.near == step.far else None)


def _clause(briefing: Briefing, step: MetapathWalk) -> str:
    """Return the wording of a hop with its far end as the subject, because the far end is the answer."""
    relation = briefing.schema.relation(step.relation)
    if step.direction == "in":
        return relation.description or f"is connected by {_said(relation.name)} to"
    return relation.inverse or f"is connected by {_said(relation.name)} with"


def _names(briefing: Briefing, node_type: str, skip: int) -> list[str]:
    """Return names of a type that fit into a question, rotated by `skip` so that each kind of example uses another."""
    names = [name for name in briefing.names.get(node_type, ()) if 1 < len(name) <= MOST_NAME_CHARACTERS]
    return names[skip % len(names) :] + names[: skip % len(names)] if names else []


def _sure(plan: Plan) -> Plan:
    return replace(plan, risk_level="aggressive")


def _said(identifier: str) -> str:
    return " ".join(identifier.replace("_", " ").split()).lower()
