"""Which stage lost an answer, known without looking at any list.

A search with the intact pipeline finds the answer; the same search with one broken stage loses it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from search.services.searches.pin_searches import pin_searches
from search.services.searches.run_search import ranking_of
from tests.training.broken.world import NAME, WALKS, World
from training.data.examples import Example
from training.evaluation.lost import LostStage
from training.services.attribution import attribute
from training.services.evaluations.choose_pins import search_pinned

TOP = 5
"""Length of the top of a ranking, short enough for so small a base to lose answers."""


@dataclass(frozen=True)
class Break:
    """One broken stage: its pipeline, the settings that break it, and the stage that loses the answers."""

    name: str
    stage: LostStage
    pipeline: str
    settings: dict[str, Any]
    only: tuple[str, ...] = ()
    """What may be asked; empty: everything."""


_LONG = tuple(said for said, (_, steps) in WALKS.items() if len(steps) > 1)
_MANY = tuple(said for said in WALKS if said.startswith(("films", "studios")))
BREAKS: tuple[Break, ...] = (
    Break("planner: wrong type", LostStage.TYPED, "grasp", {"plan.fault": "type"}),
    Break("planner: wrong hop", LostStage.REACHED, "grasp", {"plan.fault": "hop"}),
    Break("planner: hop left out", LostStage.REACHED, "grasp", {"plan.fault": "short"}, _LONG),
    Break("planner: no plan", LostStage.PLANNED, "grasp", {"plan.fault": "none"}),
    Break("planner: fails", LostStage.PLANNED, "grasp", {"plan.fault": "fails"}),
    Break("linker: wrong node", LostStage.LINKED, "grasp", {"link.fault": True}),
    Break("traverse: list cut", LostStage.CUT, "grasp", {"traverse.rows": 1}, _MANY),
    Break("rescore: turned round", LostStage.RANKED, "grasp", {"rescore.fault": True}, _MANY),
    Break("fuse: graph counts nothing", LostStage.FUSED, "grasp", {"fuse.method": "static", "fuse.weight": 0.0}),
    Break("rerank: last first", LostStage.RERANKED, "grasp", {"rerank": "reversing"}),
    Break("bm25: documents forgotten", LostStage.RETRIEVED, "bm25", {"retrieve.fault": True}),
    Break("hybrid: documents forgotten", LostStage.RETRIEVED, "hybrid", {"bm25.fault": True, "vss.depth": 1}),
    Break("nested fusion: words count nothing", LostStage.FUSED, "nested", {"retrieve.fault": True}),
    Break("ppr: nodes forgotten", LostStage.RETRIEVED, "ppr", {"pagerank.fault": True, "retrieve.fault": True}),
    Break("ppr: graph counts nothing", LostStage.FUSED, "ppr", {"fuse.method": "static", "fuse.weight": 0.0}),
)  # fmt: skip


@dataclass(frozen=True)
class Verdict:
    """A lost answer: what was broken, the stage that lost it, and the stage that the attribution names."""

    what: str
    stage: LostStage
    named: LostStage
    question: str
    why: str


def verdicts(broken: Break, examples: Sequence[Example], most: int) -> list[Verdict]:
    """Return at least `most` verdicts (if the questions give so many) on answers that only the broken stage loses."""
    intact = pin_searches(knowledge_base=NAME, pipelines=[broken.pipeline], settings={})[broken.pipeline]
    faulty = pin_searches(knowledge_base=NAME, pipelines=[broken.pipeline], settings=broken.settings)[broken.pipeline]
    found: list[Verdict] = []
    for example in examples:
        if len(found) >= most:
            break
        if broken.only and not example.text.startswith(broken.only):
            continue
        top = {node for node, _ in ranking_of(search_pinned(intact, example))[:TOP]}
        if top.isdisjoint(example.answers):
            continue
        attribution = attribute(search_pinned(faulty, example), example.answers, k=TOP)
        found += [
            Verdict(broken.name, broken.stage, fate.loss.stage, example.text, fate.loss.why)
            for fate in attribution.answers
            if fate.loss is not None and fate.id in top
        ]
    return found


def missing_edges(world: World, examples: Sequence[Example], most: int) -> list[Verdict]:
    """Return verdicts on answers to which the base has no walk of up to three hops, and on ids that it has not."""
    intact = pin_searches(knowledge_base=NAME, pipelines=["grasp"], settings={})["grasp"]
    found: list[Verdict] = []
    for example in examples:
        if len(found) >= most:
            break
        near = world.near(int(example.id.split()[-1]), 3)
        apart = {answer for answer in example.answers if int(answer[1:]) not in near}
        if not apart:
            continue
        attribution = attribute(search_pinned(intact, example), (*example.answers, "nowhere"), k=TOP)
        for fate in attribution.answers:
            stage = LostStage.UNREACHABLE if fate.id in apart else LostStage.UNKNOWN if fate.id == "nowhere" else None
            if fate.loss is not None and stage is not None:
                found.append(Verdict(f"base: {stage}", stage, fate.loss.stage, example.text, fate.loss.why))
    return found


def confusion(found: Sequence[Verdict]) -> dict[str, dict[str, int]]:
    """Return what was broken → stage that was named → number of lost answers."""
    table: dict[str, dict[str, int]] = {}
    for one in found:
        row = table.setdefault(f"{one.what} → {one.stage}", {})
        row[one.named] = row.get(one.named, 0) + 1
    return table
