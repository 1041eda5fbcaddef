"""The rules: which stage lost an expected answer first (docs/attribution.md).

The graph comes first. If it could have brought the answer to the top and did not, the stage of its branch that lost the
answer is named, whatever the text did. If it could not, the lists of text decide.
"""

from __future__ import annotations

from collections.abc import Mapping

from search.domain.plan import Plan
from search.domain.trace import StepRole
from training.evaluation.lost.attribution import Loss
from training.evaluation.lost.facts import ExecutedPlan, GraphFacts, Held, ListStep, LostWay, RunFacts
from training.evaluation.lost.stages import LostStage

COMPARABLE = 0.5
"""A start counts as right for an answer if a plan from it has at least this share of the best F1. In a connected graph
nearly every node leads to every answer by some plan, but such a plan finds little else that is expected."""

_STAGE_OF_STEP: Mapping[StepRole, LostStage] = {
    "plan": LostStage.PLANNED,
    "link": LostStage.LINKED,
    "graph": LostStage.CUT,
    "recover": LostStage.CUT,
    "graph list": LostStage.RANKED,
}
"""The stage that lost the answers if a step of this role failed."""
_NOT_REPEATED = "The recorded candidates of the plan are cut, and the search could not be repeated with the same lists."
_UNREACHABLE = Loss(LostStage.UNREACHABLE, LostStage.UNREACHABLE.sentence)


def first_loss(facts: RunFacts, answer: str, k: int) -> Loss | None:
    """Return the first stage that kept an expected answer out of the top `k` of a search, None if it stands there."""
    if facts.failed:
        return Loss(LostStage.FAILED, facts.failed)
    if facts.answer.in_top(answer, k):
        return None
    if facts.unsure:
        return Loss(LostStage.UNDECIDED, facts.unsure)
    if answer not in facts.types:
        return Loss(LostStage.UNKNOWN, LostStage.UNKNOWN.sentence)
    merged = _lost_in_merge(facts, answer, k)
    graph = facts.graph
    if merged is not None:
        if graph is None or merged.stage is LostStage.RERANKED or _graph_had_it(facts, answer, k):
            return merged
        ways = graph.ways.to(answer)
        if not ways or ways[0].places.get(answer, k + 1) > k:
            return merged
    lost = _lost_in_graph(facts, graph, answer) if graph is not None else None
    return lost or merged or _not_listed(facts, answer)


def closest(facts: RunFacts, losses: Mapping[str, Loss | None]) -> str:
    """Return the expected answer that came closest to the first place: the best rank, else the latest lost stage."""
    order = list(LostStage)

    def distance(at: int) -> tuple[float, int, int]:
        answer = facts.expected[at]
        loss = losses.get(answer)
        late = -order.index(loss.stage) if loss and loss.stage is not LostStage.UNDECIDED else 0
        return facts.answer.ranks.get(answer, float("inf")), late, at

    return facts.expected[min(range(len(facts.expected)), key=distance)]


def _lost_in_merge(facts: RunFacts, answer: str, k: int) -> Loss | None:
    """Return the last merge that had the answer in the top of an input and not in its output, None if none had."""
    for place in range(len(facts.steps) - 1, -1, -1):
        step = facts.steps[place]
        if step.role == "rerank":
            before = facts.steps[place - 1].output if place else None
            if before is not None and before.in_top(answer, k):
                return Loss(
                    LostStage.RERANKED,
                    f"{_had(facts, before, answer)}; the reranker puts it {_at(step.output, answer)}.",
                )
            continue
        if step.inputs:
            if (carrier := _carrier(step, answer, k)) is not None:
                said = f"{_had(facts, carrier, answer)}; {facts.title(step.name)} puts it {_at(step.output, answer)}."
                return Loss(LostStage.FUSED, said)
        elif len(facts.steps) == place + 1 and step.output.in_top(answer, k):
            return Loss(
                LostStage.FUSED, f"{_had(facts, step.output, answer)}; the answer has it {_at(facts.answer, answer)}."
            )
    return None


def _carrier(step: ListStep, answer: str, k: int) -> Held | None:
    """Return the input of a step that has the answer in the top, at its best place; None if no input has it there."""
    having = [held for held in step.inputs if held.in_top(answer, k)]
    return min(having, key=lambda held: held.places[answer]) if having else None


def _graph_had_it(facts: RunFacts, answer: str, k: int) -> bool:
    return any(step.role == "graph list" and step.output.in_top(answer, k) for step in facts.steps)


def _lost_in_graph(facts: RunFacts, graph: GraphFacts, answer: str) -> Loss | None:
    """Return the stage of the graph's branch that lost the answer, None if the text was to find it."""
    ways = graph.ways.to(answer)
    if not graph.planned:
        held = any(answer in step.output.ranks for step in facts.steps)
        return None if held or ways or graph.ways.unsure or not graph.ways.named else _UNREACHABLE
    for role, reason in graph.problems.items():
        if role in _STAGE_OF_STEP:
            return Loss(_STAGE_OF_STEP[role], f"The step failed: {reason}")
    best = next((plan for plan in graph.plans if plan.index == graph.best), None)
    if best is None or (not ways and not graph.plans[0].runs):
        if not ways:
            return None
        return Loss(
            LostStage.PLANNED, f"The planner left the question to the text; a plan from {_from(ways[0])} finds it."
        )
    if answer in best.reaches and not best.changed:
        return _lost_after(best, graph, facts, answer)
    if answer in best.unsure:
        return Loss(LostStage.UNDECIDED, "Whether the plan leads to it was not found out in time.")
    return _wrong_plan(facts, graph, best, answer)


def _lost_after(best: ExecutedPlan, graph: GraphFacts, facts: RunFacts, answer: str) -> Loss:
    """Return the loss of an answer to which the most probable plan leads."""
    if answer not in best.listed.ranks:
        if not best.listed.whole:
            return Loss(LostStage.UNDECIDED, _NOT_REPEATED)
        said = f"The plan leads to it, but it is not among the {best.listed.size:,} candidates that were kept."
        return Loss(LostStage.CUT, said)
    listed = next((s.output for s in facts.steps if s.role == "graph list" and answer in s.output.ranks), None)
    if listed is None:
        return Loss(LostStage.RANKED, "The plan leads to it, but the graph's list does not contain it.")
    return Loss(LostStage.RANKED, f"The plan leads to it, but the graph's list puts it {_at(listed, answer)}.")


def _wrong_plan(facts: RunFacts, graph: GraphFacts, best: ExecutedPlan, answer: str) -> Loss:
    """Return the first condition of the most probable plan that the answer does not meet."""
    plan, kind = best.plan, facts.types[answer]
    ways = graph.ways.to(answer)
    also = _also(graph, answer)
    if not ways and not also and answer not in best.reaches:
        if kind not in facts.answerable:
            return Loss(LostStage.TYPED, f"The settings of the knowledge base say that no {kind} is an answer.")
        if answer in best.relinked:
            return Loss(LostStage.LINKED, "The plan leads to it from a less similar node than those that were linked.")
        return Loss(LostStage.UNDECIDED, graph.ways.unsure) if graph.ways.unsure else _UNREACHABLE
    if (wanted := _wanted(plan)) and not all(kind in labels for labels in wanted):
        types = " or ".join(dict.fromkeys(label for labels in wanted for label in labels))
        return Loss(LostStage.TYPED, f"The plan asks for {types}; the answer is of type {kind}.{also}")
    if answer in best.without_filters:
        return Loss(LostStage.REACHED, f"The hops of the plan lead to it, but a filter leaves it out.{also}")
    for anchor, bound in zip(plan.anchors, best.bound, strict=True):
        if not bound:
            return Loss(LostStage.LINKED, f"Nothing was linked for “{anchor.text}”.{also}")
        if ways and not any(bound & start for way in _comparable(ways) for start in way.starts):
            said = f"The plan starts from what was linked for “{anchor.text}”, not from {_from(ways[0])}."
            return Loss(LostStage.LINKED, f"{said}{also}")
    return Loss(LostStage.REACHED, f"The hops of the plan do not lead to it.{also}")


def _not_listed(facts: RunFacts, answer: str) -> Loss:
    """Return the loss of an answer that only a list of text could have held."""
    having = [step.output for step in facts.steps if answer in step.output.ranks]
    if having:
        best = min(having, key=lambda held: held.places[answer])
        return Loss(LostStage.RANKED, f"{_had(facts, best, answer)}; no list has it higher.")
    return Loss(LostStage.RETRIEVED, LostStage.RETRIEVED.sentence)


def _comparable(ways: list[LostWay]) -> list[LostWay]:
    return [way for way in ways if way.f1 >= COMPARABLE * ways[0].f1]


def _wanted(plan: Plan) -> tuple[tuple[str, ...], ...]:
    """Return the sets of types of which the target's type must be in each."""
    return plan.labels_of.get(plan.target.var, ())


def _also(graph: GraphFacts, answer: str) -> str:
    """Return a sentence that names the other executed plans that lead to the answer; empty if there are none."""
    others = [plan for plan in graph.plans if answer in plan.reaches and plan.index != graph.best]
    if not others:
        return ""
    said = ", ".join(f"plan {plan.index + 1} ({plan.probability:.0%})" for plan in others[:3])
    return f" Less probable plans find it: {said}." if len(others) > 1 else f" A less probable plan finds it: {said}."


def _from(way: LostWay) -> str:
    return " and ".join(way.names)


def _had(facts: RunFacts, held: Held, answer: str) -> str:
    return f"{facts.title(held.name)} has it at rank {held.ranks[answer]:,}"


def _at(held: Held, answer: str) -> str:
    rank = held.ranks.get(answer)
    if rank is not None:
        return f"at rank {rank:,}"
    return "nowhere" if held.whole else "below its first 100 entries"
