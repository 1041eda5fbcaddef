"""learn: train on the corrections, and show what that changed: rankings before and after, of them and of others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from search.domain.run_context import RunContext
from search.models import PipelineVersion
from search.services.pipelines.save_pipeline_version import activate_pipeline_version
from search.services.searches.pin import PipelineChoice
from training import wiring
from training.data.examples import BadQuestions, Example, spread
from training.data.splits import TRAIN, VAL
from training.models import Evaluation, Outcome, QuestionSet
from training.services.annotation.corrected import text_key
from training.services.annotation.corrections import CORRECTIONS, example_of, list_corrections
from training.services.evaluate import evaluate
from training.services.question_sets import examples_of, existing_base, register_questions
from training.services.train import train

BEFORE, AFTER = "before", "after"
OTHERS = 100
"""Other questions that are asked before and after, unless the caller says otherwise."""
_OPTION = "corrections"
"""Key of an evaluation's options under which the outcome of the learning is kept."""


@dataclass(frozen=True)
class Lessons:
    """What is learned from: corrections, beside the questions of a set. `left_out` says which are not, and why."""

    corrections: tuple[Example, ...]
    examples: tuple[Example, ...]
    others: tuple[Example, ...]
    left_out: tuple[str, ...]


def lessons(
    knowledge_base: str, question_set: QuestionSet | None, *, others: int = OTHERS, allow_val: bool = False
) -> Lessons:
    """Return the training and validation questions for learning from a knowledge base's corrections.

    A correction of a question that the set keeps for measuring is left out, since learning from it would make every
    later report too good; with `allow_val` only those of val may be learned from. The other questions are those of
    the set that are not learned from or, where there are none, its training questions. Raises BadQuestions if nothing
    is left.
    """
    of_set = examples_of(question_set) if question_set else []
    splits = {text_key(one.text): one.split for one in of_set}
    # A set without splits is learned from as a whole; files that mix both are refused by `refuse_splits`.
    unsplit = "" if of_set and not any(splits.values()) else TRAIN
    allowed = {TRAIN, ""} | ({VAL} if allow_val else set())
    corrections, left_out = [], []
    for row in list_corrections(knowledge_base=knowledge_base).order_by("created"):
        split = splits.get(text_key(row.question), "")
        if split in allowed:
            corrections.append(replace(example_of(row), split=split or unsplit))
        else:
            left_out.append(f"“{row.question[:120]}” is in the split {split}, which reports are measured on.")
    if not corrections:
        said = " ".join(left_out) or "A button beside a judged item makes one."
        raise BadQuestions([f"{knowledge_base} has no correction to learn from. {said}"])
    corrected = {text_key(one.text) for one in corrections}
    plain = [one for one in of_set if text_key(one.text) not in corrected]
    taught = [one for one in plain if one.split == unsplit]
    held = [one for one in plain if one.split != unsplit] or taught
    return Lessons(tuple(corrections), (*taught, *corrections), tuple(spread(held, others)), tuple(left_out))


def learn_corrections(
    *, knowledge_base: str, learner: str, question_set: QuestionSet | None = None, settings: Mapping[str, Any],
    others: int = OTHERS, allow_val: bool = False, activate: bool = False, release: str = "",
    run: RunContext | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Train a learner on the corrections and a set's training questions, and report what that changed.

    The corrected questions, and others, are asked with the version in use and with the new one, as two evaluations
    with pages of their own. Interrupted work goes on. Raises the exceptions of `lessons`, `train` and `evaluate`.
    """
    run = run or RunContext()
    found = lessons(knowledge_base, question_set, others=others, allow_val=allow_val)
    corrections, _ = register_questions(
        knowledge_base=knowledge_base, examples=found.corrections, name=CORRECTIONS, source="Corrections of annotators"
    )
    pipeline, _ = wiring.option_of(learner)
    before = run.notes.get(BEFORE)
    if before is None:
        before = _active(knowledge_base, pipeline)
        with run.fenced():
            run.notes.put(BEFORE, before)
    report = train(
        kind=learner, knowledge_base=knowledge_base, examples=found.examples, settings=settings, activate=False,
        allow_val=allow_val, run=run.part("training"), question_set=question_set, release=release,
    )  # fmt: skip
    choices = [
        PipelineChoice(pipeline, before, label=BEFORE),
        PipelineChoice(pipeline, report["pipeline_version"], label=AFTER),
    ]

    def asked(examples: Sequence[Example], of: QuestionSet | None, name: str) -> dict[str, Any]:
        return evaluate(
            knowledge_base=knowledge_base, examples=examples, split=None, pipelines=choices, settings={},
            run=run.part(name), question_set=of, release=release, repeated=0, attribute=False,
            cross_fitted=name == "others",
        )  # fmt: skip

    own = asked(found.corrections, corrections, "corrected")
    others_report = asked(found.others, question_set, "others") if found.others else None
    told = _told(own, others_report) | {"left_out": list(found.left_out), "learner": learner}
    version = PipelineVersion.objects.get(
        knowledge_base=existing_base(knowledge_base), pipeline=pipeline, version=report["pipeline_version"]
    )
    with run.fenced():
        evaluation = Evaluation.objects.get(pk=own["evaluation"])
        evaluation.options[_OPTION] = told | {"pipeline_version": version.version, "pipeline": pipeline}
        evaluation.save(update_fields=["options"])
        if activate:
            activate_pipeline_version(version)
    return {**report, "active": activate, "what_changed": told["sentence"], "evaluation": own["evaluation"],
            "corrections": told}  # fmt: skip


def _active(knowledge_base: str, pipeline: str) -> int:
    """Return the active version of a pipeline; 0 stands for the site's own options."""
    rows = PipelineVersion.objects.filter(knowledge_base__name=knowledge_base, pipeline=pipeline, active=True)
    return rows.values_list("version", flat=True).first() or 0


def _told(own: Mapping[str, Any], others: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return what changed as figures and as a sentence."""
    moved = rank_changes(UUID(own["evaluation"]))
    better = sum(one.gain > 0 for one in moved)
    worse = sum(one.gain < 0 for one in moved)
    number = len(moved)
    said = (
        f"Of {number} corrected question{'' if number == 1 else 's'}, {better} found the first answer higher than "
        f"before, {number - better - worse} at the same rank, {worse} lower."
    )
    comparison = None
    if others is not None:
        comparison = next(one for one in others["comparisons"] if one["metric"] == "MRR")
        # The pair is before against after; what changed is the other way round.
        low, high = (-one for one in reversed(comparison["interval"]))
        said += (
            f" On {others['questions']} other questions MRR changes by {-comparison['difference']:+.2f} "
            f"(95% {low:+.2f} to {high:+.2f}, p = {comparison['p']:.3g})."
        )
    return {
        "sentence": said, "better": better, "worse": worse, "questions": number,
        "others": others["evaluation"] if others else None, "others_comparison": comparison,
    }  # fmt: skip


@dataclass(frozen=True, slots=True)
class RankChange:
    """The rank of a question's first answer before and after; None: not among the first hundred."""

    position: int
    question: str
    answers: tuple[str, ...]
    before: int | None
    after: int | None
    top_before: tuple[str, ...]
    top_after: tuple[str, ...]

    @property
    def gain(self) -> int:
        """1 if the answer stands higher after, -1 if lower, 0 if at the same rank."""
        old, new = (self.before or 10**6), (self.after or 10**6)
        return (old > new) - (old < new)


def rank_changes(evaluation: UUID, top: int = 3) -> list[RankChange]:
    """Return the changes of an evaluation of BEFORE and AFTER, by question, with the first `top` results of each."""
    rows = Outcome.objects.filter(evaluation=evaluation).select_related("question").order_by("question__position")
    by_question: dict[int, dict[str, Outcome]] = {}
    for row in rows:
        by_question.setdefault(row.question_id, {})[row.pipeline] = row
    found = []
    for sides in by_question.values():
        if BEFORE in sides and AFTER in sides:
            old, new = sides[BEFORE], sides[AFTER]
            asked = old.question
            found.append(RankChange(asked.position, asked.text, tuple(asked.answers), old.rank, new.rank,
                                    tuple(old.ids[:top]), tuple(new.ids[:top])))  # fmt: skip
    return found


def learned_of(evaluation: Evaluation) -> dict[str, Any] | None:
    """Return what a learning from corrections recorded with its evaluation; None for other evaluations."""
    told: dict[str, Any] | None = evaluation.options.get(_OPTION)
    return told
