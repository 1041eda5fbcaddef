"""Score candidate plans with a scorer learned from questions and their answers (docs/planning.md, "Learned").

For each mention, the encoder reads the question with that mention masked. Vectors of paths are kept in memory. A path
that was not in training is compared with the question by the vector of its wording.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from search.domain.graph import Schema
from search.interfaces import PlanScorer, PlanTable, Vectors
from search.language.question import AnalysedQuestion
from search.stages.plan.enumeration.enumerate import PlanCandidate
from search.stages.plan.knowledge import Knowledge
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.knowledge.vectors import TextVectors
from search.stages.plan.knowledge.wording import Wording
from search.stages.plan.scoring.features import FEATURES, Features
from search.stages.plan.scoring.score import Scored

MASK = "it"
"""Text that replaces the mention. It does not name a type, so the same text serves all plans of the mention."""
_MOST_PATHS = 20_000
"""Number of paths kept in memory; above it, all are dropped and mapped anew."""
_NAMED = 3
"""Most unseen types and relations that the note names; the others are counted."""


def path_key(path: Metapath, schema: Schema) -> str:
    """Return a path as JSON with names, not codes: `["film",["DIRECTED_BY","out","person"]]`.

    The key of a path is the same in every snapshot.
    """
    steps = [
        [schema.relations[step.relation].name, step.direction, schema.node_types[step.to_type].name]
        for step in path.steps
    ]
    return json.dumps([schema.node_types[path.start].name, *steps], ensure_ascii=False, separators=(",", ":"))


def masked(question: AnalysedQuestion) -> list[str]:
    """Return the texts that are encoded to score a question: one for each mention, or the question if it has none."""
    return [question.masked([(mention, MASK)]) for mention in range(len(question.names))] or [question.text]


def branches(candidates: Sequence[PlanCandidate], places: Mapping[Metapath, int]) -> NDArray[np.int64]:
    """Return the rows of `PlanTable.branches` for candidates of one question; `places` maps a path to its row."""
    rows = [
        (at, mention, places[path])
        for at, candidate in enumerate(candidates)
        for mention, path in zip(candidate.mentions, candidate.paths, strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


@dataclass
class MappedPaths:
    """The mapped vectors of the paths used so far, for one scorer and one schema. Threads may share it."""

    scorer: PlanScorer
    wording: Wording
    vectors: TextVectors
    _places: dict[Metapath, int] = field(default_factory=dict, init=False)
    _rows: Vectors | None = field(default=None, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def of(self, paths: Iterable[Metapath]) -> tuple[Mapping[Metapath, int], Vectors]:
        """Return the row number of each of these paths (and of others), and the matrix of mapped vectors."""
        wanted = dict.fromkeys(paths)
        with self._lock:
            if len(self._places) > _MOST_PATHS:
                self._places, self._rows = {}, None
            new = [path for path in wanted if path not in self._places]
            if new or self._rows is None:
                rows = self.scorer.map_paths(self._raw(new))
                self._rows = rows if self._rows is None else np.concatenate((self._rows, rows))
                # Other threads may still use the old mapping and matrix. So both are replaced, not changed.
                self._places = {**self._places, **{path: len(self._places) + at for at, path in enumerate(new)}}
            return self._places, self._rows

    def _raw(self, paths: Sequence[Metapath]) -> Vectors:
        rows = [self.scorer.vector(path_key(path, self.wording.schema)) for path in paths]
        unseen = [path for path, row in zip(paths, rows, strict=True) if row is None]
        wordings = iter(self.vectors.of([self.wording.plan((path,)) for path in unseen]))
        found = [next(wordings) if row is None else row for row in rows]
        return np.stack(found) if found else np.zeros((0, self.vectors.encoder.dimensions), dtype=np.float32)


def mapped_paths(scorer: PlanScorer, knowledge: Knowledge) -> MappedPaths:
    """Return the mapped vectors of this scorer object and schema, kept with the knowledge of the schema."""
    return knowledge.kept((MappedPaths, scorer), lambda: MappedPaths(scorer, knowledge.wording, knowledge.vectors))


@dataclass(frozen=True)
class LearnedScorer:
    """Scores all candidates of a question at once with a learned scorer."""

    features: Features
    vectors: TextVectors
    scorer: PlanScorer
    mapped: MappedPaths

    def __call__(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Scored:
        """Return all candidates, best first."""
        texts = masked(question)
        # Later stages need the question's own vector. In this batch it costs less than in a call of its own.
        self.vectors.learn([question.text, *texts])
        places, path_vectors = self.mapped.of(path for candidate in candidates for path in candidate.paths)
        table = PlanTable(
            features=self.features.of(question, candidates).astype(np.float32),
            question=np.zeros(len(candidates), dtype=np.int64),
            asked=self.vectors.of(texts),
            owner=np.zeros(len(texts), dtype=np.int64),
            branches=branches(candidates, places),
        )
        sums, [text] = self.scorer(table, path_vectors)
        order = np.argsort(-sums, kind="stable")
        note = unseen(self.scorer, self.mapped.wording.schema)
        return Scored([(candidates[at], float(sums[at])) for at in order], float(text), "learned", note)


def unusable(scorer: PlanScorer, encoder: str) -> str:
    """Return a message why this scorer cannot score plans here, or an empty string when it can."""
    if scorer.encoder != encoder:
        return f"{scorer.name} was trained on vectors of {scorer.encoder}, and the encoder here is {encoder}"
    if scorer.features != FEATURES:
        return f"{scorer.name} was trained on other features than this version computes; train it again"
    return ""


def unseen(scorer: PlanScorer, schema: Schema) -> str:
    """Return a note on the types and relations that were not in training, or an empty string when all were."""
    types = [f"the type {kind.name!r}" for kind in schema.node_types if kind.name not in scorer.types]
    relations = [f"the relation {r.name!r}" for r in schema.relations if r.name not in scorer.relations]
    new = types + relations
    if not new:
        return ""
    named = ", ".join(new[:_NAMED]) + (f" and {len(new) - _NAMED} more" if len(new) > _NAMED else "")
    return f"The planner was trained before there was {named}: plans with them are scored by their wording."
