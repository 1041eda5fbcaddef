"""lesson: what a training is given, how a learner is taught with it, and how its result is stored as an artifact."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from search import wiring as search_wiring
from search.domain.errors import SearchCancelled
from search.domain.run_context import RunCancelled, RunContext
from search.interfaces import Keys, NodeStore
from search.models import Artifact, Job, PipelineVersion, Release
from search.services.pipelines.register_artifact import discard_artifact, new_artifact_id, register_artifact
from search.services.pipelines.use_artifact import options_of
from training import wiring
from training.data.examples import BadQuestions, Example, capped
from training.data.hashes import data_hash, question_hash
from training.data.splits import counts
from training.learning.task import Evaluated, LearnedTask, Learner, LearningTask, Material, TooFew
from training.models import QuestionSet
from training.services.found import found_by
from training.services.learned_from import QUESTIONS_FILE
from training.services.model_card import CARD, job_of, model_card
from training.services.question_sets import described_set
from training.services.synthesise import SynthesisedQuestions

_WRITTEN = "artifacts"
"""Name of the note with the ids of artifacts whose files were begun, one for each attempt that came so far."""


@dataclass(frozen=True, eq=False)
class Lesson:
    """What a training of a learner (`kind`) is given. `configuration` holds all settings of the learner."""

    kind: str
    learner: Learner
    configuration: Mapping[str, Any]
    release: Release
    examples: Sequence[Example]
    made: SynthesisedQuestions
    question_set: QuestionSet | None
    allow_val: bool

    def task(self, on: PipelineVersion | None) -> LearningTask[Any]:
        """Return the learner's task. `on` is the version that is improved; None means the active one.

        Raises BadQuestions for answers that are not nodes, InvalidRequest when the version no longer fits the site,
        StageError when a tool is not available.
        """
        return self.learner.task(self._material(on))

    def settled(self) -> dict[str, Any]:
        """Return what is recorded of the settings and the questions."""
        return {
            **self.configuration, "release": self.release.name, "allow_val": self.allow_val,
            "splits": counts(self.examples), "synthesised": self.made.described(),
        }  # fmt: skip

    def register(
        self, artifact_id: str, kind: str, task: LearningTask[Any], learned: LearnedTask, evaluated: Evaluated
    ) -> Artifact:
        """Write the artifact, in the caller's transaction, and return its row."""
        settled = self.settled()
        card = model_card(task.describe(), kind, settled, evaluated, len(self.examples), self.question_set)
        files = {**learned.files, QUESTIONS_FILE: self._questions(), CARD: card.encode()}
        return register_artifact(
            artifact_id=artifact_id, knowledge_base=self.release.knowledge_base, kind=kind, tensors=learned.tensors,
            served=learned.served, configuration=settled, metrics=evaluated.metrics, files=files,
            data_hash=data_hash([*self.examples, *self.made.examples]),
            job=job_of(self.release, settled, learned.served, self.question_set),
        )  # fmt: skip

    def report(self, artifact: str, evaluated: Evaluated, seconds: float) -> dict[str, Any]:
        """Return what every report of a training says."""
        return {
            "knowledge_base": self.release.knowledge_base.name,
            "release": self.release.name,
            "kind": self.kind,
            "question_set": described_set(self.question_set),
            "questions": len(self.examples),
            "splits": counts(self.examples),
            "synthesised": self.made.described(),
            "allow_val": self.allow_val,
            "artifact": artifact,
            "metrics": dict(evaluated.metrics),
            "table": {row: dict(figures) for row, figures in evaluated.table.items()},
            "seconds": round(seconds, 2),
        }

    def told(self) -> str:
        """Return the numbers of questions in words."""
        made = len(self.made.examples)
        parts = [f"{len(self.examples):,} questions"] if self.examples or not made else []
        return " and ".join(parts + ([f"{made:,} synthesised questions"] if made else []))

    def _questions(self) -> bytes:
        """Return the content of QUESTIONS_FILE, which records the questions that the artifact has learned from.

        A synthesised question may happen to be one that people ask, so their hashes are kept too.
        """
        hashes = sorted({*(question_hash(example) for example in self.examples), *self.made.hashes()})
        kept = {"hashes": hashes, "splits": counts(self.examples), "allow_val": self.allow_val,
                "question_set": described_set(self.question_set), "synthesised": self.made.described()}  # fmt: skip
        return orjson.dumps(kept)

    def _material(self, on: PipelineVersion | None) -> Material:
        """Return the learner's input. The options are those of the variant that will use the artifact."""
        name, option = wiring.option_of(self.kind)
        release = self.release
        pipeline = search_wiring.pipeline(name)
        present = options_of(release.knowledge_base, name, on)
        specified = pipeline.specification(pipeline.taking(present, option, wiring.variants_for(self.kind)))
        tools = search_wiring.tools(release)
        options = specified["stages"][option.split(".", 1)[0]]["OPTIONS"]
        own, made = self.examples, self.made.examples
        if wiring.learns_from_searches(self.kind) and not own:
            own, made = made, ()
        answers, others = (answer_keys(several, tools.nodes, release.name) for several in (own, made))
        return Material(own, answers, tools, options, found_by(release, name, own, on), made, others)


def taught(task: LearningTask[Any], run: RunContext) -> tuple[LearnedTask, Evaluated]:
    """Return the learned model and its measures. Raises BadQuestions for too few questions, RunCancelled."""
    try:
        learned = task.fit(run)
        evaluated = task.evaluate(learned, run)
    except TooFew as error:
        raise BadQuestions([str(error)]) from error
    except SearchCancelled as error:
        raise RunCancelled() from error
    # A training that is cancelled at this point writes no artifact.
    run.check()
    return learned, evaluated


def announced(kind: str, run: RunContext) -> str:
    """Return the id of the artifact that is written next, after it was noted; remove what killed trainings have left.

    A file system and a database commit one after the other. So the id is noted before the first file is written, and
    the files of a noted artifact without a row belong to an attempt that was killed between the two.
    """
    former: list[str] = run.notes.get(_WRITTEN) or []
    with run.fenced():
        ended = Job.objects.filter(notes__has_key=_WRITTEN).exclude(state__in=Job.LIVE)
        for known in (*former, *(name for notes in ended.values_list("notes", flat=True) for name in notes[_WRITTEN])):
            discard_artifact(known)
    artifact_id = new_artifact_id(kind)
    run.notes.put(_WRITTEN, [*former, artifact_id])
    return artifact_id


def answer_keys(examples: Sequence[Example], nodes: NodeStore, release: str) -> list[Keys]:
    """Return the sorted keys of each question's answers. Raises BadQuestions with all answers that are not nodes."""
    answers, faults = [], []
    for example in examples:
        keys = nodes.keys(example.answers)
        faults += [
            f"Question {example.id!r}: the answer {answer!r} is no node of {release}."
            for answer, key in zip(example.answers, keys, strict=True)
            if key is None
        ]
        answers.append(np.array(sorted({key for key in keys if key is not None}), dtype=np.int32))
    if faults:
        raise BadQuestions(capped(faults))
    return answers
