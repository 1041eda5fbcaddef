"""Things with a maker and a user, and questions about them whose words say nothing of the relations.

`zork` leads to the user and `blim` to the maker; neither word is asked with, and the encoder's vectors mean nothing: by
them, `made` is nearer to `zork`. So which relation `made` speaks of can only be learned from answers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from search.domain.graph import Node
from search.domain.run_context import RunContext
from search.stages.plan import Planner
from tests.fakes import HashEncoder
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.ingest import bundles
from tests.search.stages.plan.films import planner_of
from training.data.examples import Example
from training.learning.planner import LearnedPlanner, PlannerLearner, PlannerLesson, PlannerTask

THINGS, PEOPLE, TAUGHT = 28, 20, 20
"""The questions about the first `TAUGHT` things are learned from; those about the others stay unseen."""
DIMENSIONS = 64
QUICK: dict[str, Any] = {"folds": 2, "steps": 20}
"""Settings with which so few questions are learned from in a second or two."""

_NAMES = [
    "".join(said).capitalize() for said in product(("ba", "do", "fi", "gu"), ("lem", "rax", "vok"), ("pid", "zun"))
]
_THINGS = [f"{first} {second}" for first, second in product(_NAMES, ("Nine", "Prime"))][:THINGS]
_PEOPLE = [f"Person{at:02}" for at in range(PEOPLE)]


def world() -> Graph:
    """Return the graph; a thing's maker and user are never the same."""
    nodes = [Node(at, f"t{at}", "thing", name) for at, name in enumerate(_THINGS)]
    nodes += [Node(THINGS + at, f"p{at}", "person", name) for at, name in enumerate(_PEOPLE)]
    chance = np.random.default_rng(7)
    edges = []
    for thing in range(THINGS):
        maker, user = (THINGS + chance.permutation(PEOPLE)[:2]).tolist()
        edges += [(thing, "blim", maker), (thing, "zork", user)]
    return Graph(tuple(nodes), tuple(edges))


WORLD = world()
SCHEMA = schema_of(WORLD)


def questions(first: int = 0, end: int = THINGS) -> list[Example]:
    """Return both questions about each of these things, with their answers."""
    found = []
    for thing, relation, person in WORLD.edges:
        if first <= thing < end:
            verb = "made" if relation == "blim" else "used"
            text = f"who {verb} {WORLD.nodes[thing].name}"
            found.append(Example(f"{verb}-{thing}", text, (WORLD.nodes[person].id,)))
    return found


def mixed(end: int = TAUGHT) -> list[Example]:
    """Return the questions of `questions`, half of them with the other answer: what some teach, the others deny."""
    examples = questions(end=end)
    return [replace(one, answers=examples[at ^ (at // 2 % 2)].answers) for at, one in enumerate(examples)]


def planner(folder: Path) -> Planner:
    """Return a planner over the graph that has learned nothing."""
    made = planner_of(folder, WORLD, SCHEMA)
    return replace(made, encoder=HashEncoder(dimensions=DIMENSIONS))


@dataclass(frozen=True, eq=False)
class Taught:
    """What was learned, and how good it is."""

    learned: LearnedPlanner
    metrics: Mapping[str, Any]


def lesson(teaching: Planner, examples: list[Example]) -> PlannerLesson:
    """Return what is to be learned from these questions."""
    keys = [teaching.nodes.keys(example.answers) for example in examples]
    answers = [np.array(sorted(key for key in own if key is not None), np.int32) for own in keys]
    return PlannerLesson(examples, answers, teaching)


def taught(
    learner: PlannerLearner, teaching: Planner, examples: list[Example], run: RunContext | None = None
) -> Taught:
    """Learn from these questions, and measure."""
    task = PlannerTask(learner, lesson(teaching, examples))
    run = run or RunContext()
    learned = task.fit(run)
    return Taught(learned, task.evaluate(learned, run).metrics)


def learner(**settings: int | float) -> PlannerLearner:
    """Return the learner with settings that suit so few questions."""
    return PlannerLearner(**(QUICK | settings))


def bundle(folder: Path, *more: tuple[str, str, str]) -> Path:
    """Write the graph as a bundle, with further edges (ids and relation) between its nodes and new ones."""
    nodes = [{"id": node.id, "type": node.type, "name": node.name, "fields": {}} for node in WORLD.nodes]
    new = {target for _, _, target in more} - {node["id"] for node in nodes}
    nodes += [{"id": name, "type": "place", "name": name.capitalize(), "fields": {}} for name in sorted(new)]
    ids = [node.id for node in WORLD.nodes]
    edges = [{"source": ids[s], "relation": relation, "target": ids[t]} for s, relation, t in WORLD.edges]
    edges += [{"source": source, "relation": relation, "target": target} for source, relation, target in more]
    kinds: dict[str, Any] = {kind: {} for kind in ("thing", "person", *(["place"] if new else []))}
    return bundles.write(folder, nodes, edges, name="makers", node_types=kinds)
