"""describe_search: convert a run to the JSON that API, commands and pages all show.

It depends on the roles of steps and the types of their outputs, and on no single pipeline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from search import wiring
from search.composition import Pipeline, titles_of
from search.domain.evidence import Evidence
from search.domain.payloads import (
    ExpandedPayload,
    FollowUpRead,
    Fused,
    GraphListed,
    Links,
    Payload,
    Plans,
    Recovery,
    Results,
    Traversals,
    read_payload,
)
from search.domain.shown import most_probable_found
from search.models import SearchRun, SearchStep
from search.services.searches.answer import answer_of
from search.services.searches.describe_follow_up import describe_follow_up
from search.services.searches.end_abandoned import end_abandoned_search, why_nobody_takes
from search.services.searches.verdict import told
from search.signals.titles import signal_title
from search.text import words

SHOWN_DEGRADED = ("degraded", "failed")


@dataclass(frozen=True)
class Outputs:
    """The outputs of the steps of a search, by role: the latest output of each role.

    Plans, bindings and traversals are those after recovery. A plan that recovery changed is replaced by the changed
    plan, which also records the original.
    """

    plans: Plans = field(default_factory=Plans)
    links: Links = field(default_factory=Links)
    found: Traversals = field(default_factory=Traversals)
    graph: GraphListed | None = None
    fused: Fused | None = None
    results: Results = field(default_factory=Results)
    asked: Links | None = None
    """The bindings before recovery changed a plan; None if it changed nothing."""
    follow_up: FollowUpRead | None = None
    expanded: ExpandedPayload | None = None


def describe_search(run: SearchRun) -> dict[str, Any]:
    """Return a search as every door shows it; parts that the run has not reached yet are null or empty.

    `plan` is the most probable plan that has an answer, and `plan_index` its index in `plans`, which are in the order
    of their probability. `other_plans` lists the ranks of results that other plans led to. An abandoned run is ended
    first. `model_use` is what a run that has ended spent on language models (`search.domain.budget.Budget.to_json`), or
    null if it asked none. `waiting` says why no worker has taken a queued run, or is null if no reason is known.
    """
    run = end_abandoned_search(run)
    return describe(run, list(run.steps.all()))


def describe(run: SearchRun, steps: Sequence[SearchStep]) -> dict[str, Any]:
    """Return the same from a run and its steps, in order; of a run whose release has been loaded it reads no rows."""
    output = outputs_of(steps)
    pipeline = wiring.pipeline_or_none(run.pipeline)
    plans = describe_plans(output)
    shown, others = shown_plan(output)
    answer = answer_of(output.plans, output.links, output.found, shown, output.asked)
    results = describe_results(output, shown, pipeline)
    search = {
        "id": str(run.pk),
        "status": run.status,
        "question": run.question,
        "follows": str(run.follows) if run.follows else None,
        "follow_up": describe_follow_up(
            run, output.follow_up, output.plans.entries[shown] if shown is not None else None
        ),
        "knowledge_base": run.knowledge_base_name,
        "other_bases": run.other_bases,
        "release": run.release_name or None,
        "pipeline": {
            "name": run.pipeline,
            "title": pipeline.title if pipeline else run.pipeline,
            "version": run.pipeline_number,
            "specification": run.specification,
            "flow": _flow(run, pipeline),
        },
        "k": run.k,
        "seconds": run.seconds,
        "model_use": (run.answer or {}).get("model_use"),
        "created": run.created.isoformat(),
        "error": run.error,
        "waiting": why_nobody_takes(run),
        "changes": run.changes,
        "degraded": [{"stage": s.name, "reason": s.detail} for s in steps if s.status in SHOWN_DEGRADED],
        "plan": plans[shown]["plan"] if shown is not None else None,
        "plan_index": shown,
        "other_plans": others,
        "plans": plans,
        "linked": describe_linked(output),
        "did_you_mean": did_you_mean(output, shown),
        "graph": describe_graph(output),
        "expansion": output.expanded.to_json() if output.expanded else None,
        "fusion": describe_fusion(output, pipeline),
        "answer": answer | _values(answer, results),
        "results": results,
        "steps": [describe_step(step, pipeline) for step in steps],
    }
    schema = run.release.snapshot.schema if run.release is not None else None
    return search | told(search, output.found, schema, output.graph.probability if output.graph else None)


def _values(answer: Mapping[str, Any], results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return `values`, the asked field of each answer among the results; nothing if no field is asked for."""
    if "field" not in answer:
        return {}
    answers = [result for result in results if result["answers"]]
    return {"values": [{"id": one["node"]["id"], "value": one["evidence"].get("value")} for one in answers]}


def _answers(evidence: Evidence | None, shown: int | None) -> bool:
    return evidence is not None and evidence.plan_index == shown and evidence.whole == "met"


def _flow(run: SearchRun, pipeline: Pipeline | None) -> list[dict[str, str]]:
    """Return the stages that the run's specification configures, in the order in which they run."""
    stages = (run.specification or {}).get("stages", {})
    flow = pipeline.flow if pipeline else ()
    return [part.to_json() for part in flow if stages.get(part.name, {}).get("BACKEND")]


def outputs_of(steps: Iterable[SearchStep]) -> Outputs:
    """Return the outputs of the steps by role. Raises ValueError if an output does not have the form of its role."""
    given: dict[str, Payload | None] = {}
    for step in steps:
        payload = read_payload(step.role, step.output, step.version)
        given[step.role] = payload or given.get(step.role)
    plans, links, found = given.get("plan"), given.get("link"), given.get("graph")
    graph, results = given.get("graph list"), given.get("explain")
    # A reranker's output is the fusion with the reranker's list added; the results' scores are sums of that output.
    # A pipeline without a fusing stage may have a retriever that fuses lists of its own.
    fused = given.get("rerank") or given.get("fusion") or (given.get("text list") if results else None)
    changed, read, expanded = given.get("recover"), given.get("follow up"), given.get("expand")
    output = Outputs(
        plans if isinstance(plans, Plans) else Plans(),
        links if isinstance(links, Links) else Links(),
        found if isinstance(found, Traversals) else Traversals(),
        graph if isinstance(graph, GraphListed) else None,
        fused if isinstance(fused, Fused) else None,
        results if isinstance(results, Results) else Results(),
        follow_up=read if isinstance(read, FollowUpRead) else None,
        expanded=expanded if isinstance(expanded, ExpandedPayload) else None,
    )
    if not isinstance(changed, Recovery):
        return output
    plans, links, found = changed.laid_over(output.plans, output.links, output.found)
    return replace(output, plans=plans, links=links, found=found, asked=output.links)


def shown_plan(output: Outputs) -> tuple[int | None, list[dict[str, Any]]]:
    """Return the index of the most probable plan that found something, and the ranks of results from other plans.

    If no plan found anything, the index is that of the plan that the first result's evidence names, and without results
    that of the most probable plan. It is None if there are no plans.
    """
    count = len(output.plans.entries)
    if not count:
        return None, []
    results, plan_of = output.results.entries, output.graph.plan_of if output.graph else {}
    index = most_probable_found(
        ((at, entry.probability, entry.plan) for at, entry in enumerate(output.plans.entries)),
        {entry.plan_index: entry.listed.total for entry in output.found.entries},
    )
    if index is None:
        evidence = results[0].evidence if results else None
        index = evidence.plan_index if evidence is not None and 0 <= evidence.plan_index < count else 0
    ranks: dict[int, list[int]] = {}
    for result in results:
        own = result.evidence.plan_index if result.evidence is not None else index
        if result.node.id in plan_of and own != index and 0 <= own < count:
            ranks.setdefault(own, []).append(result.rank)
    return index, [{"plan_index": other, "ranks": found} for other, found in sorted(ranks.items())]


def describe_plans(output: Outputs) -> list[dict[str, Any]]:
    """Return the list of plans, most probable first, with the number of candidates that each found."""
    found = {entry.plan_index: entry.listed.total for entry in output.found.entries}
    return [entry.to_json() | {"found": found.get(index, 0)} for index, entry in enumerate(output.plans.entries)]


def describe_linked(output: Outputs) -> list[dict[str, Any]]:
    """Return the bindings of every anchor of every plan."""
    return [anchor.to_json() for anchors in output.links.plans for anchor in anchors]


def did_you_mean(output: Outputs, shown: int | None) -> list[dict[str, Any]]:
    """Return the names of the plan with the index `shown` that were not read as they are stored.

    Each has the words of the question (`text`), the name that was read (`name`), by which way (`how`), and better-known
    nodes that may be meant instead (`others`).
    """
    if shown is None or shown >= len(output.links.plans):
        return []
    texts = {(anchor.var, at): anchor.text for at, anchor in output.plans.entries[shown].plan.all_anchors}
    return [
        {"text": texts.get((bound.anchor, bound.exclude), ""), **dict(bound.reading)}
        | {"id": bound.bindings[0].id, "type": bound.bindings[0].type, "name": bound.bindings[0].name}
        for bound in output.links.plans[shown]
        if bound.reading is not None and bound.bindings
    ]


def describe_graph(output: Outputs) -> dict[str, Any] | None:
    """Return the queries in the graph and the number of their candidates, None if none has run."""
    found = output.found.entries
    if not found:
        return None
    return {
        "backend": found[0].backend,
        "query": found[0].query,
        "queries": [
            {"plan_index": entry.plan_index, "backend": entry.backend, "query": entry.query} for entry in found
        ],
        "candidates": output.graph.n_cand if output.graph else 0,
        "truncated": any(entry.truncated for entry in found),
    }


def describe_fusion(output: Outputs, pipeline: Pipeline | None = None) -> dict[str, Any] | None:
    """Return the arithmetic of the fusion and the titles of its lists, None if no fusion has run."""
    fused = output.fused
    if fused is None:
        return None
    leaves = [name for result in output.results.entries for name in result.shares]
    return {
        "method": fused.method,
        "k": fused.k,
        "weights": dict(fused.weights),
        "bucket": fused.bucket,
        "risk": fused.risk,
        "leads": fused.leads,
        "surely": fused.surely,
        "probability": fused.probability,
        "trust": {name: trust.to_json() for name, trust in fused.trust.items()},
        "titles": titles_of(list(dict.fromkeys([*fused.weights, *leaves])), pipeline),
    }


def describe_results(output: Outputs, shown: int | None, pipeline: Pipeline | None = None) -> list[dict[str, Any]]:
    """Return the explained results, best first; their signals have titles.

    `answers` says whether a result meets every condition of the plan with the index `shown`. A plan that was changed
    because it found nothing has no answers: what the changed plan finds is near.
    """
    changed = shown is not None and output.plans.entries[shown].given is not None
    described = output.results.to_json()
    lists = pipeline.titles if pipeline else {}
    for result, entry in zip(described, output.results.entries, strict=True):
        result["answers"] = not changed and _answers(entry.evidence, shown)
        result["signals"] = [{**one, "title": signal_title(one["name"], lists)} for one in result["signals"]]
    return described


def describe_step(step: SearchStep, pipeline: Pipeline | None = None) -> dict[str, Any]:
    """Return a step without its output, with the title that its pipeline gives it."""
    declared = {part.name: part.title for part in pipeline.flow} if pipeline else {}
    return {
        "name": step.name,
        "role": step.role,
        "title": declared.get(step.name) or words(step.name).capitalize(),
        "backend": step.backend,
        "status": step.status,
        "seconds": step.seconds,
        "detail": step.detail,
        "prompt_fingerprint": step.prompt_fingerprint,
        "tokens": step.tokens,
    }
