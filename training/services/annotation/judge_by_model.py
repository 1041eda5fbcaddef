"""judge_by_model: the configured language model judges the items of a queue as one more annotator."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from django.conf import settings

from search import wiring
from search.asking import Answers, ask
from search.domain.budget import Allowance, Budget
from search.domain.conversation import ModelIdentity
from search.domain.errors import Fault, InvalidRequest, StageError
from search.domain.run_context import RunContext
from search.interfaces import IdentifiedModel
from search.prompts.annotation import UNSURE, AnnotationPrompts
from search.prompts.files import fingerprint
from search.prompts.reading import json_by
from search.services.language_models.budgets import new_budget
from training.models import AnnotationItem, AnnotationQueue, ModelAnnotator, Verdict
from training.models.annotation import HIGHEST_GRADE
from training.services.annotation.judge import LONGEST_NOTE, GivenJudgement, judge_as_model
from training.services.annotation.show_item import fill_shown

PART, TOOL = "items", "language_model"
A_BATCH = 8
BATCH_SECONDS = 300.0
"""Longest time that the model may take for a batch of items."""
MOST_TOKENS = 2_000_000
_FINGERPRINT_SHOWN = 12


@dataclass(frozen=True, slots=True)
class Judging:
    """What a run of the model did: items judged, of them unsure, without a usable answer, and left for another run."""

    judged: int
    unsure: int
    failed: int
    left: int
    reason: str


def prompts_of(queue: AnnotationQueue) -> AnnotationPrompts:
    """Return the prompts with the queue's guideline."""
    return AnnotationPrompts(queue.guideline, HIGHEST_GRADE)


def name_of_model(model: ModelIdentity) -> str:
    """Return the name that a model's judgements carry: another prompt, option or server makes another annotator."""
    return f"{model.model[:250]} #{model.fingerprint[:_FINGERPRINT_SHOWN]}"


def checked_model(queue: AnnotationQueue) -> ModelIdentity:
    """Return the configured model; its fingerprint is that of model and prompt. Raises InvalidRequest without one."""
    if TOOL not in settings.GRASP_TOOLS:
        raise InvalidRequest([Fault("/arguments/queue_id", "No model can judge: this site has no language models.")])
    language_model: IdentifiedModel = wiring.build(TOOL)
    try:
        found = language_model.identity()
        return replace(found, fingerprint=fingerprint(found.fingerprint, prompts_of(queue).version))
    except StageError as error:
        raise InvalidRequest([Fault("/arguments/queue_id", f"No model can judge: {error.reason}.")]) from error


def judge_by_model(
    queue: AnnotationQueue, *, most_tokens: int = MOST_TOKENS, run: RunContext | None = None
) -> dict[str, Any]:
    """Let the configured language model judge every item that it has not judged; return what it did.

    It sees what annotators see, and the same guideline. It ends early, with a sentence, when the budget is spent or the
    server gives no answer; what was judged stays, and another run goes on. Raises InvalidRequest if no model is
    configured.
    """
    run = run or RunContext()
    model = checked_model(queue)
    name = name_of_model(model)
    annotator, _ = ModelAnnotator.objects.get_or_create(
        queue=queue, name=name,
        defaults={"model": model.model[:200], "fingerprint": model.fingerprint, "prompt": prompts_of(queue).version},
    )  # fmt: skip
    budget = new_budget(Allowance(tokens=most_tokens))
    done = _judge_all(queue, annotator, budget, run)
    with run.fenced():
        annotator.failed = done.failed
        annotator.save(update_fields=["failed", "tokens", "changed"])
    return {
        "knowledge_base": queue.knowledge_base.name, "queue": queue.name, "queue_id": queue.pk, "model": name,
        "fingerprint": model.fingerprint, "judged": done.judged, "unsure": done.unsure, "failed": done.failed,
        "left": done.left, "reason": done.reason, "tokens": annotator.tokens, "model_use": budget.to_json(),
    }  # fmt: skip


def _judge_all(queue: AnnotationQueue, annotator: ModelAnnotator, budget: Budget, run: RunContext) -> Judging:
    judged = queue.items.filter(judgements__model=annotator.name).values("pk")
    items = list(queue.items.exclude(pk__in=judged).filter(state=AnnotationItem.State.OPEN).order_by("position"))
    prompts, counts = prompts_of(queue), {"judged": 0, "unsure": 0, "failed": 0}
    language_model = wiring.build(TOOL)
    reason, asked = "", 0
    for batch in _batches(items):
        run.check()
        shown = [item for item in batch if fill_shown(item)]
        limit = replace(run.limit.at_most(BATCH_SECONDS), budget=budget)
        answers: Answers[dict[str, Any]] = ask(
            language_model, [prompts.judge(item.question, described(item.shown or {})) for item in shown],
            json_by(prompts.answer), limit, rounds=1,
        )  # fmt: skip
        with run.fenced():
            _store(annotator, shown, answers, counts)
        asked += len(batch)
        run.progress(PART, asked, len(items))
        errors = [answer.error for answer in answers if answer.error is not None]
        if shown and len(errors) == len(shown):
            # A server that answers none of a batch would answer none of the next one either.
            reason = f"It stopped after {counts['judged']:,} items: {errors[0].reason.rstrip('. ')}."
            counts["failed"] -= len(shown)
            asked -= len(batch)
            break
    return Judging(**counts, left=len(items) - asked, reason=reason)


def _store(
    annotator: ModelAnnotator, items: Sequence[AnnotationItem], answers: Answers[dict[str, Any]], counts: dict[str, int]
) -> None:
    """Store the answers of a batch as judgements of the model."""
    for item, answer in zip(items, answers, strict=True):
        if answer.value is None:
            counts["failed"] += 1
            continue
        unsure = answer.value["grade"] == UNSURE
        given = GivenJudgement(
            Verdict.UNSURE if unsure else Verdict.GRADED, None if unsure else int(answer.value["grade"]),
            note=answer.value["reason"][:LONGEST_NOTE].replace("\x00", "\ufffd"),
        )  # fmt: skip
        judge_as_model(item=item, model=annotator.name, given=given)
        counts["judged"] += 1
        counts["unsure"] += unsure
    for kind, number in answers.tokens.items():
        annotator.tokens[kind] = annotator.tokens.get(kind, 0) + number
    annotator.save(update_fields=["tokens", "changed"])


def _batches(items: Sequence[AnnotationItem]) -> Iterator[Sequence[AnnotationItem]]:
    for at in range(0, len(items), A_BATCH):
        yield items[at : at + A_BATCH]


def described(shown: Mapping[str, Any]) -> str:
    """Return what annotators are shown of a candidate as text: type and name, fields, relations."""
    lines = [f"{shown.get('type', '')} {shown.get('name', '')}".strip()]
    if shown.get("aliases"):
        lines.append(f"also called {', '.join(shown['aliases'])}")
    lines += [f"{one['name']}: {'; '.join(one['values'])}" for one in shown.get("fields", ())]
    for one in shown.get("relations", ()):
        more = f" and {one['more']} more" if one.get("more") else ""
        lines.append(f"{one['wording']}: {', '.join(one['names'])}{more}")
    return "\n".join(lines)
