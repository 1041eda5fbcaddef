"""show_item: what annotators see of a candidate, copied from the release into the item."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

import structlog

from search import wiring
from search.domain.conditions import Conditions
from search.domain.errors import SearchError
from search.domain.fusion import Fusion
from search.domain.linking import GraphRanking, LinkedPlan
from search.domain.payloads import UnreadablePayload
from search.domain.question import Question
from search.domain.ranking import Candidate, Ranking
from search.domain.trace import Limit
from search.language.reader import reading_in
from search.models import Release, SearchRun
from search.models.knowledge import BuildStatus
from search.plan_words import Relations, exclusion_words, filter_words, relation_words, variables_of
from search.sentences.values import amount_words, order_value
from search.services.knowledge.describe_node import describe_node
from search.services.searches.describe_search import outputs_of, shown_plan
from search.services.searches.recorded_plan import recorded_plan
from search.stages.check import Check
from search.text import words
from training.models import AnnotationItem

log = structlog.get_logger(__name__)

SECONDS = 2.0
"""Time limit for the conditions and the paths of one item."""
LONGEST_VALUE, MOST_VALUES, MOST_GROUPS, MOST_NEIGHBOURS, MOST_PATHS = 4_000, 50, 12, 8, 3
READ_ROLES = ("plan", "link", "graph", "graph list", "recover", "explain")

EVIDENCE: Mapping[str, Any] = {"conditions": [], "paths": [], "note": ""}
"""The search's own opinion of a candidate, with empty values; it is shown after the judgement."""

Json = Mapping[str, Any]


def fill_shown(item: AnnotationItem) -> bool:
    """Copy what annotators see into the item, unless it is there; return whether there is something to see.

    Nothing can be copied once the release has been dropped, or if it has no such node; the item is retired then.
    """
    if item.shown is not None:
        return True
    queue = item.queue
    release = queue.release
    node = None
    if release is None or release.status != BuildStatus.READY:
        reason = f"The release {queue.release_name} was dropped before anybody had seen this item."
    else:
        node = describe_node(release, item.node_id)
        reason = f"{release.name} has no node {item.node_id[:80]!r}, so there is nothing to judge."
    if node is None or release is None:
        item.state, item.reason = AnnotationItem.State.RETIRED, reason
        item.save(update_fields=["state", "reason"])
        return False
    with reading_in("en"):
        # It is kept for everybody who judges the item.
        item.shown = _entity(node, release.snapshot.schema.wordings) | _evidence(item, release)
    item.node_name, item.node_type = node["name"], node["type"]
    item.save(update_fields=["shown", "node_name", "node_type"])
    return True


def blind(shown: Json | None) -> dict[str, Any]:
    """Return what is kept of a candidate without what the search found of it."""
    return {name: value for name, value in (shown or {}).items() if name not in EVIDENCE}


def _entity(node: Json, relations: Relations) -> dict[str, Any]:
    """Return fields and neighbours of a node, cut to what fits a page."""
    link = node["url"] if node["url"].startswith(("https://", "http://")) else ""
    return {
        "id": node["id"], "name": node["name"], "type": words(node["type"]), "aliases": node["aliases"][:MOST_VALUES],
        "link": link,
        "fields": [
            {"name": amount_words(one["name"], None)[0], "values": _values(one["name"], one["value"], relations)}
            for one in node["fields"]
        ],
        "relations": [
            {"wording": one["wording"], "direction": one["direction"], "count": one["count"], "more": one["more"],
             "names": [other["name"] for other in one["items"][:MOST_NEIGHBOURS]]}
            for one in node["relations"][:MOST_GROUPS]
        ],
    }  # fmt: skip


def _values(field: str, value: Any, relations: Relations) -> list[str]:
    several = value if isinstance(value, list) else [value]
    texts = [amount_words(field, one, relations)[1] for one in several[:MOST_VALUES]]
    return [text if len(text) <= LONGEST_VALUE else f"{text[:LONGEST_VALUE]}…" for text in texts]


def _evidence(item: AnnotationItem, release: Release) -> dict[str, Any]:
    """Return conditions and paths of the question's plan, checked now and in one way for every candidate.

    What the search recorded of its results would tell which candidates it had found.
    """
    nothing: dict[str, Any] = {"conditions": [], "paths": [], "note": "No plan of this question was recorded."}
    try:
        tools = wiring.tools(release, None)
        linked = _plan_of(item, tools)
        [key] = tools.nodes.keys([item.node_id])
        if linked is None or key is None:
            return nothing
        plan = linked.plan.to_json()
        limit = Limit.seconds(SECONDS)
        fusion = Fusion(Ranking.in_order([Candidate(key, 0.0)]), {}, {}, 1.0)
        checked = Check(tools.graph, seconds=SECONDS)(
            Question(item.question), fusion, [linked], GraphRanking.empty(), limit
        )
        found = tools.graph.paths(linked, [key], limit, MOST_PATHS).get(key, []) if linked.plan.anchors else []
        paths = [_walk(path.to_json()) for match in found for path in match]
        note = "" if paths else "No path of the question's plan leads to this possible answer."
        return {
            "conditions": _in_words(plan, checked.conditions[key], tools.schema.wordings),
            "paths": paths,
            "note": note,
        }
    except (SearchError, UnreadablePayload, OSError, KeyError, ValueError) as error:
        log.warning("evidence of an item not shown", item=item.pk, reason=str(error))
        return nothing | {"note": "The paths could not be looked up."}


def _plan_of(item: AnnotationItem, tools: wiring.Tools) -> LinkedPlan | None:
    """Return the first recorded plan of the item's searches with its bindings, or None."""
    runs = [UUID(place["run"]) for place in item.origin.get("pipelines", {}).values() if place.get("run")]
    there = SearchRun.objects.in_bulk(runs)
    for run in (there[one] for one in runs if one in there):
        output = outputs_of(run.steps.filter(role__in=READ_ROLES))
        index, _ = shown_plan(output)
        if index is not None:
            return recorded_plan(output, index, tools)
    return None


def _walk(path: Sequence[Json]) -> list[dict[str, str]]:
    """Return a path as names and relations in turn."""
    return [
        {"name": one["node"]["name"], "type": words(one["node"]["type"])} if "node" in one
        else {"relation": words(one["relation"]), "direction": one["direction"]}
        for one in path
    ]  # fmt: skip


def _in_words(plan: Json, checked: Conditions, relations: Relations) -> list[dict[str, str]]:
    """Return each condition of the plan with its status."""
    anchors = {one["var"]: one for one in plan["anchors"]}
    names = variables_of(plan) | {hop["to_var"]: words(hop["to_label"]) for hop in plan["hops"]}
    target = plan.get("target", {})
    if target.get("labels"):
        names[target["var"]] = words(target["labels"][0])
    names |= {var: one["text"] or ", ".join(one.get("ids", ())) for var, one in anchors.items()}
    told = [("entity", names[var], status) for var, status in checked.anchors if var in anchors]
    told += [
        (
            "relation",
            f"{names.get(hop['from'], hop['from'])} — {relation_words(hop['rel'], hop.get('direction'), relations)}"
            f" — {names.get(hop['to_var'], '')}",
            one,
        )
        for hop, one in zip(plan["hops"], checked.hops, strict=False)
    ]
    told += [
        ("filter", filter_words(limit, relations=relations), one)
        for limit, one in zip(plan.get("filters", ()), checked.filters, strict=False)
    ]
    told += [
        ("exclusion", f"not {exclusion_words(pattern, variables_of(plan), relations)}", one)
        for pattern, one in zip(plan.get("exclude", ()), checked.exclude, strict=False)
    ]
    if plan.get("order") and checked.order is not None:
        # The place in the order would tell the rank.
        told.append(("order", order_value(plan["order"], checked.order.value, relations), "unknown"))
    return [{"kind": kind, "words": said, "status": status} for kind, said, status in told]
