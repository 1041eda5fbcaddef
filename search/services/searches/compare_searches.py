"""compare_searches: two to four searches of one question side by side: ranks, agreement, plans, cost."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from typing import Any

from search.domain.errors import Fault, InvalidRequest
from search.domain.graph import ANY
from search.domain.rank_table import agreements, rank_table
from search.models import SearchRun
from search.plan_words import (
    Relations,
    asked_words,
    exclusion_words,
    filter_words,
    hop_words,
    order_words,
    variables_of,
    where_words,
)
from search.services.searches.describe_search import describe_search
from search.text import words

FEWEST, MOST = 2, 4
"""Searches that are compared at once."""
Json = Mapping[str, Any]
Parts = Mapping[tuple[str, str], str]
"""The parts of a plan in words, by the keys by which plans are compared."""


def check_comparable(runs: Sequence[SearchRun]) -> None:
    """Raise InvalidRequest if these searches cannot be compared: their number, their questions or knowledge bases."""
    faults = []
    if not FEWEST <= len(runs) <= MOST:
        faults.append(Fault("/id", f"Two to four searches are compared at once, not {len(runs)}."))
    if len({run.pk for run in runs}) < len(runs):
        faults.append(Fault("/id", "A search is named twice; a comparison needs different ones."))
    if len({run.knowledge_base_name for run in runs}) > 1:
        names = ", ".join(dict.fromkeys(run.knowledge_base_name for run in runs))
        faults.append(Fault("/id", f"These searches are of different knowledge bases ({names}); compare those of one."))
    if len({" ".join(run.question.split()) for run in runs}) > 1:
        faults.append(Fault("/id", "These searches are of different questions; compare searches of one question."))
    if faults:
        raise InvalidRequest(faults)


def compare_searches(runs: Sequence[SearchRun]) -> dict[str, Any]:
    """Return the comparison of searches in any state, in their order. Raises InvalidRequest (`check_comparable`)."""
    check_comparable(runs)
    releases = [run.release for run in runs if run.release is not None]
    return compare_described(
        [describe_search(run) for run in runs], releases[0].snapshot.schema.wordings if releases else None
    )


def compare_described(searches: Sequence[Json], relations: Relations | None = None) -> dict[str, Any]:
    """Return the comparison of described searches.

    `nodes` are the results of all of them in the order of their best rank, each with its rank in every search, null in
    one that does not list it. `only_here` of a search are the ids that no other search lists; null while a search runs,
    because nothing can be said of it yet. `agreement` has a row for each pair of finished searches. `plan` of a search
    are the parts of its shown plan in words, each with the indexes of the searches whose plan has the same part; null
    if the search uses no plan.
    """
    lists = [[result["node"]["id"] for result in search["results"]] for search in searches]
    table = rank_table(lists)
    nodes = {result["node"]["id"]: result["node"] for search in searches for result in search["results"]}
    done = [search["status"] == "done" for search in searches]
    parts = [dict(plan_parts(search["plan"], relations)) if search["plan"] else None for search in searches]
    alone = {one.id: one.lists[0] for one in table if len(one.lists) == 1}
    return {
        "question": searches[0]["question"],
        "knowledge_base": searches[0]["knowledge_base"],
        "finished": not any(search["status"] in ("queued", "running") for search in searches),
        "searches": [
            {
                "id": search["id"],
                "pipeline": {key: search["pipeline"][key] for key in ("name", "title", "version")},
                "release": search["release"],
                "status": search["status"],
                "seconds": search["seconds"],
                "results": len(lists[at]),
                "model_use": search["model_use"],
                "only_here": [node for node in lists[at] if alone.get(node) == at] if all(done) else None,
                "plan": None if parts[at] is None else list(_shared(parts[at] or {}, parts)),
                "degraded": search["degraded"],
                "error": search["error"],
            }
            for at, search in enumerate(searches)
        ],
        "nodes": [{"node": nodes[one.id], "ranks": list(one.ranks)} for one in table],
        "agreement": [
            asdict(one) | {"overlap": one.overlap} for one in agreements(lists) if done[one.first] and done[one.second]
        ],
    }  # fmt: skip


def _shared(own: Parts, parts: Sequence[Parts | None]) -> Iterator[dict[str, Any]]:
    for key, text in own.items():
        yield {
            "part": key[0],
            "text": text,
            "searches": [at for at, other in enumerate(parts) if other and key in other],
        }


def plan_parts(plan: Json, relations: Relations | None = None) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the parts of a plan, each as a key by which plans are compared, and in words.

    Names of variables take no part in the comparison: a hop is the same if it has the same relation, direction and
    types at its ends, an entity if it has the same text and type.
    """
    variables = variables_of(plan)
    types = {anchor["var"]: anchor["label"] for anchor in plan["anchors"]}
    types |= {hop["to_var"]: hop["to_label"] for hop in plan["hops"]}
    types.setdefault(plan["target"].get("var", "T"), "|".join(plan["target"].get("labels") or [ANY]))
    goal = " or ".join(words(label) for label in plan["target"].get("labels") or ()) or "anything"
    yield ("target", goal.casefold()), goal
    for anchor in plan["anchors"]:
        text = str(anchor["text"] or ", ".join(anchor.get("ids", ())[:3]))
        kind = "" if anchor["label"] in (ANY, "") else words(anchor["label"])
        # Two plans inside may find other things and be called the same.
        inner = sorted("=".join(key) for key, _ in plan_parts(anchor["plan"])) if anchor.get("plan") else []
        yield ("anchor", "|".join([text, kind, *inner]).casefold()), f"{text} ({kind})" if kind else text
    for hop in plan["hops"]:
        yield ("hop", _hop_key(hop, types)), hop_words(hop, relations)
    said = [("filter", filter_words(one, relations=relations)) for one in plan.get("filters") or ()]
    said += [("exclude", f"not {exclusion_words(one, variables, relations)}") for one in plan.get("exclude") or ()]
    said += [("order", order_words(plan["order"], relations))] if plan.get("order") else []
    said += [("ask", asked) for asked in asked_words(plan)]
    text = plan["target"].get("relevance_text") or ""
    said += [("text", text)] if text else []
    for kind, text in said:
        yield (kind, text.casefold()), text


def _hop_key(hop: Json, types: Mapping[str, str]) -> str:
    """Return what a hop says without its variables, the same from whichever end it is written."""
    near, far = types.get(hop["from"], ANY), hop["to_label"]
    ends = {"out": [near, far], "in": [far, near]}.get(hop.get("direction") or "", sorted((near, far)))
    return "|".join([hop["rel"], "directed" if hop.get("direction") else "either", *ends, where_words(hop)]).casefold()
