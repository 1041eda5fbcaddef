"""Candidate plans scored by what was learned from questions and their answers (docs/planning.md, "Learned").

One text a mention is encoded, the question with that mention masked; vectors of paths are kept in memory. A path that
was never seen is held against the question by its wording.
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
"""What stands in for the mention: its type is a matter of the plan, so that one text does for all of its plans."""
_MOST_PATHS = 20_000
_NAMED = 3
"""New types and relations that the note names."""


def path_key(path: Metapath, schema: Schema) -> str:
    """Return a path by names, the same in every snapshot: `["film",["DIRECTED_BY","out","person"]]`."""
    steps = [
        [schema.relations[step.relation].name, step.direction, schema.node_types[step.to_type].name]
        for step in path.steps
    ]
    return json.dumps([schema.node_types[path.start].name, *steps], ensure_ascii=False, separators=(",", ":"))


def masked(question: AnalysedQuestion) -> list[str]:
    """Return the texts that a question is scored by: one a mention, or the question where it has none."""
    return [question.masked([(mention, MASK)]) for mention in range(len(question.names))] or [question.text]


def branches(candidates: Sequence[PlanCandidate], places: Mapping[Metapath, int]) -> NDArray[np.int64]:
    """Return the rows of `PlanTable.branches` for candidates of one question; `places` are those of the paths."""
    rows = [
        (at, mention, places[path])
        for at, candidate in enumerate(candidates)
        for mention, path in zip(candidate.mentions, candidate.paths, strict=True)
    ]
    return np.array(rows, dtype=np.int64).reshape(-1, 3)


@dataclass
class MappedPaths:
    """The mapped vectors of the paths met so far, for one scorer and one schema. Safe to share by threads."""

    scorer: PlanScorer
    wording: Wording
    vectors: TextVectors
    _places: dict[Metapath, int] = field(default_factory=dict, init=False)
    _rows: Vectors | None = field(default=None, init=False)
    _lock: Lock = field(default_factory=Lock, init=False)

    def of(self, paths: Iterable[Metapath]) -> tuple[Mapping[Metapath, int], Vectors]:
        """Return the place of each of these paths, and the matrix that the places are rows of."""
        wanted = dict.fromkeys(paths)
        with self._lock:
            if len(self._places) > _MOST_PATHS:
                self._places, self._rows = {}, None
            new = [path for path in wanted if path not in self._places]
            if new or self._rows is None:
                rows = self.scorer.map_paths(self._raw(new))
                self._rows = rows if self._rows is None else np.concatenate((self._rows, rows))
                # Readers may still hold the old ones: both are replaced, neither is changed.
                self._places = {**self._places, **{path: len(self._places) + at for at, path in enumerate(new)}}
            return self._places, self._rows

    def _raw(self, paths: Sequence[Metapath]) -> Vectors:
        rows = [self.scorer.vector(path_key(path, self.wording.schema)) for path in paths]
        unseen = [path for path, row in zip(paths, rows, strict=True) if row is None]
        wordings = iter(self.vectors.of([self.wording.plan((path,)) for path in unseen]))
        found = [next(wordings) if row is None else row for row in rows]
        return np.stack(found) if found else np.zeros((0, self.vectors.encoder.dimensions), dtype=np.float32)


def mapped_paths(scorer: PlanScorer, knowledge: Knowledge) -> MappedPaths:
    """Return the mapped vectors of this very scorer and schema, kept while the schema is."""
    return knowledge.kept((MappedPaths, scorer), lambda: MappedPaths(scorer, knowledge.wording, knowledge.vectors))


@dataclass(frozen=True)
class LearnedScorer:
    """Scores candidates by a learned scorer, all of them at once."""

    features: Features
    vectors: TextVectors
    scorer: PlanScorer
    mapped: MappedPaths

    def __call__(self, question: AnalysedQuestion, candidates: Sequence[PlanCandidate]) -> Scored:
        """Return all candidates, best first."""
        texts = masked(question)
        # Every later stage asks for the question's own vector: in this batch it costs a fraction of a call.
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
    """Say why a scorer cannot score plans here; an empty string when it can."""
    if scorer.encoder != encoder:
        return f"{scorer.name} was trained on vectors of {scorer.encoder}, and the encoder here is {encoder}"
    if scorer.features != FEATURES:
        return f"{scorer.name} was trained on other features than this version computes; train it again"
    return ""


def unseen(scorer: PlanScorer, schema: Schema) -> str:
    """Say which types and relations a scorer has not seen; an empty string when it has seen them all."""
    types = [f"the type {kind.name!r}" for kind in schema.node_types if kind.name not in scorer.types]
    relations = [f"the relation {r.name!r}" for r in schema.relations if r.name not in scorer.relations]
    new = types + relations
    if not new:
        return ""
    named = ", ".join(new[:_NAMED]) + (f" and {len(new) - _NAMED} more" if len(new) > _NAMED else "")
    return f"The planner was trained before there was {named}: plans with them are scored by their wording."
