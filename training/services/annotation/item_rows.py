"""item_rows: candidates as rows of items, with their questions and with what annotators must not see."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from search.models import Feedback, Node, Release, SearchRun
from training.data.hashes import normalised
from training.models import AnnotationItem, AnnotationQueue, AskedQuestion, Outcome
from training.services.annotation.candidates import ShownCandidate


@dataclass(frozen=True, slots=True)
class Seed:
    """An item before it has a place in a queue. `origin` is hidden from annotators until they have judged."""

    question: str
    node: str
    origin: Mapping[str, Any]
    identifier: str = ""
    question_hash: str = ""
    answers: Sequence[str] = ()
    split: str = ""
    name: str = field(default="", compare=False)

    @property
    def text_hash(self) -> str:
        """The hash of the question's text alone."""
        return text_hash(self.question)

    def row(self, queue: AnnotationQueue, position: int, name: str, node_type: str) -> AnnotationItem:
        """Return the row of the item; `name` and `node_type` are those of the node in the release, or empty."""
        return AnnotationItem(
            queue=queue, position=position, question=self.question, question_identifier=self.identifier,
            question_hash=self.question_hash, text_hash=self.text_hash, answers=list(self.answers), split=self.split,
            node_id=self.node, node_name=name or self.name, node_type=node_type, origin=dict(self.origin),
        )  # fmt: skip


def text_hash(text: str) -> str:
    """Return BLAKE2b-128 over the normalised text of a question, in hexadecimal."""
    return hashlib.blake2b((normalised(text) or text).encode(), digest_size=16).hexdigest()


def from_outcomes(candidates: Sequence[ShownCandidate], sources: Sequence[tuple[Any, str]]) -> list[Seed]:
    """Return items of candidates that evaluations found, with rank, score and search by pipeline."""
    asked = AskedQuestion.objects.in_bulk([one.source for one in candidates])
    hashes = {one.hash for one in asked.values()}
    rows: dict[str, list[Outcome]] = defaultdict(list)
    wanted = set(sources)
    columns = ("evaluation_id", "pipeline", "ids", "scores", "run", "lost_at", "question__hash")
    found = Outcome.objects.filter(evaluation__in={one for one, _ in sources}, question__hash__in=hashes)
    found = found.select_related("question").only(*columns)
    for outcome in found.order_by("pk").iterator(chunk_size=500):
        if (outcome.evaluation_id, outcome.pipeline) in wanted:
            rows[outcome.question.hash].append(outcome)
    order = {pair: at for at, pair in enumerate(sources)}
    seeds = []
    for one in candidates:
        question = asked[one.source]
        outcomes = sorted(rows[question.hash], key=lambda row: order[row.evaluation_id, row.pipeline])
        origin = {"reason": one.kind, "pipelines": _places(outcomes, one.node)}
        seeds.append(Seed(question.text, one.node, origin, question.identifier, question.hash, tuple(question.answers),
                          question.split))  # fmt: skip
    return seeds


def _places(outcomes: Sequence[Outcome], node: str) -> dict[str, dict[str, Any]]:
    """Return rank, score, search and lost stage by pipeline; equal labels of two evaluations get a number."""
    found: dict[str, dict[str, Any]] = {}
    for outcome in outcomes:
        at = outcome.ids.index(node) if node in outcome.ids else None
        label = outcome.pipeline if outcome.pipeline not in found else f"{outcome.pipeline} (2)"
        found[label] = {
            "rank": None if at is None else at + 1,
            "score": outcome.scores[at] if at is not None and at < len(outcome.scores) else None,
            "run": str(outcome.run) if outcome.run else None,
            "lost_at": outcome.lost_at,
        }
    return found


def from_feedback(candidates: Sequence[ShownCandidate]) -> list[Seed]:
    """Return items of what people said about results."""
    rows = Feedback.objects.select_related("run").in_bulk([one.source for one in candidates])
    seeds = []
    for one in candidates:
        given = rows[one.source]
        places = {given.run.pipeline: {"rank": given.rank, "score": None, "run": str(given.run_id), "lost_at": ""}}
        origin = {"reason": one.kind, "said": given.kind, "pipelines": places}
        seeds.append(Seed(given.run.question, one.node, origin, name=given.node_name))
    return seeds


def from_results(run: SearchRun, depth: int) -> Iterator[Seed]:
    """Yield the first `depth` results of a search, which need not have been stored."""
    top: dict[str, Any] = (run.answer or {}).get("ranking") or {}
    label = f"{run.pipeline}@{run.pipeline_number}" if run.pipeline_number else run.pipeline
    for rank, (node, score) in enumerate(zip(top.get("ids", ())[:depth], top.get("scores", ()), strict=False), 1):
        place = {"rank": rank, "score": score, "run": str(run.pk), "lost_at": ""}
        yield Seed(run.question, node, {"reason": "result", "pipelines": {label: place}})


def from_searches(runs: Sequence[SearchRun], depth: int, most: int) -> Iterator[Seed]:
    """Yield what some of these searches have in their first `depth` results and others have not, best first."""
    tops: list[dict[str, Any]] = [((run.answer or {}).get("ranking") or {}) for run in runs]
    ids = [list(top.get("ids", ())) for top in tops]
    places: dict[str, int] = {}
    for found in ids:
        for place, node in enumerate(found[:depth]):
            places[node] = min(place, places.get(node, place))
    apart = [node for node in places if not all(node in found[:depth] for found in ids)]
    for node in sorted(apart, key=lambda one: (places[one], one))[:most]:
        pipelines: dict[str, dict[str, Any]] = {}
        for at, (run, top, listed) in enumerate(zip(runs, tops, ids, strict=True)):
            rank = listed.index(node) if node in listed else None
            scores = top.get("scores", ())
            label = f"{run.pipeline}@{run.pipeline_number}" if run.pipeline_number else run.pipeline
            pipelines[label if label not in pipelines else f"{label} ({at + 1})"] = {
                "rank": None if rank is None else rank + 1,
                "score": scores[rank] if rank is not None and rank < len(scores) else None,
                "run": str(run.pk), "lost_at": "",
            }  # fmt: skip
        yield Seed(runs[0].question, node, {"reason": "disagreement", "pipelines": pipelines})


def named_nodes(release: Release, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return id → (name, type) of the nodes that the release has."""
    types = release.snapshot.schema.node_types
    rows = Node.objects.filter(snapshot_id=release.snapshot_id, id__in=set(ids)).values_list("id", "name", "type")
    return {node: (name, types[code].name) for node, name, code in rows}
