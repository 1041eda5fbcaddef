"""Planners over the demo knowledge bases: real indexes of names, values and texts, and vectors that mean nothing."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from search.adapters import near_names, text_bm25
from search.adapters.mentions_memmap import MemmapMentions
from search.domain.plan import ScoredPlan
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from search.text import field_text
from tests.search.stages.plan.follow_up.demos import Demo, demo


@dataclass(frozen=True)
class PlannedDemo:
    """A demo knowledge base with its planner."""

    demo: Demo
    planner: Planner

    def best(self, text: str) -> ScoredPlan:
        """Return the best plan of a question."""
        return self.planner(Question(text), Limit())[0]

    def answers(self, text: str) -> list[str]:
        """Return the names that the best plan of a question finds, in its order if it has one, else sorted."""
        return self.demo.answers(self.best(text).plan)


def planned(name: str, folder: Path) -> PlannedDemo:
    """Read a demo's bundle, build its indexes in an empty folder and return it with its planner."""
    base = demo(name, folder)
    near, texts = folder / "near", folder / "text"
    near.mkdir()
    near_names.build(near, folder / "mentions", base.schema.language)
    texts.mkdir()
    documents = [" ".join([node.name, *map(field_text, node.fields.values())]) for node in base.graph.nodes]
    types = np.array([base.schema.type_codes[node.type] for node in base.graph.nodes], dtype=np.int16)
    text_bm25.build(texts, (text_bm25.Document("", {"text": document}) for document in documents), types)
    stage = base.stage
    return PlannedDemo(
        base,
        Planner(
            mentions=MemmapMentions(folder / "mentions", near=near),
            adjacency=stage.adjacency,
            encoder=stage.encoder,
            nodes=stage.nodes,
            schema=base.schema,
            columns=stage.columns,
            values=stage.values,
            text=text_bm25.Bm25Index(texts, base.schema),
        ),
    )
