"""fill_queue: search the questions of a queue that came without results, and make their results its items."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.db import transaction

from search.domain.errors import Fault, InvalidRequest
from search.domain.run_context import RunContext
from search.models import Job, SearchRun
from search.models.knowledge import BuildStatus
from search.services.searches.pin_searches import pin_searches
from search.services.searches.search_batch import search_unstored, store_searches
from training.annotation.rules import TASKS, RuleArguments
from training.models import AnnotationQueue
from training.services.annotation.item_rows import Seed, from_results
from training.services.annotation.make_queue import FILL_QUEUE, add_items

PART = "questions"


def questions_of(queue: AnnotationQueue) -> list[dict[str, Any]]:
    """Return the questions of a queue that are searched, as {text, id, answers}."""
    return list(queue.arguments.get("questions", ()))


def filling_sentence(queue: AnnotationQueue) -> str:
    """Return how far the search of a queue's questions is, or why it ended; nothing where none is under way."""
    if queue.state != AnnotationQueue.State.FILLING:
        failed = len(queue.arguments.get("failed", ()))
        return f"{failed:,} question{'' if failed == 1 else 's'} could not be searched." if failed else ""
    asked = len(questions_of(queue))
    job = Job.objects.filter(kind=FILL_QUEUE, arguments__queue_id=queue.pk).order_by("-created").first()
    if job is None or job.state in Job.LIVE or job.state == Job.State.DONE:
        return f"{asked:,} question{' is' if asked == 1 else 's are'} being searched; then there is something to judge."
    return f"Its questions could not be searched: {job.reason or job.state} An admin can resume the job."


def fill_queue(queue: AnnotationQueue, run: RunContext | None = None) -> dict[str, Any]:
    """Search the questions of a queue with the site's usual pipeline, and open the queue with their results.

    All is written at once, at the end. A question whose search fails has no items; the queue keeps its name in
    `failed`. Raises InvalidRequest if the release has been dropped.
    """
    run = run or RunContext()
    release = queue.release
    if release is None or release.status != BuildStatus.READY:
        raise InvalidRequest([Fault("/queue_id", f"The release {queue.release_name} has been dropped.")])
    label = settings.GRASP_DEFAULT_PIPELINE
    pin = pin_searches(
        knowledge_base=queue.knowledge_base.name, pipelines=[label], settings={}, release=release.name
    )[label]  # fmt: skip
    given = {name: value for name, value in queue.arguments.items() if name == "depth"}
    depth = RuleArguments.parse(TASKS, given).depth
    asked = questions_of(queue)
    seeds, rows, failed = [], [], []
    for number, one in enumerate(asked, 1):
        run.check()
        found = search_unstored(
            pin, question=one["text"], k=depth, purpose=f"annotation queue {queue.pk}", cancelled=run.limit.cancelled
        )
        rows.append(found.stored())
        if found.run.status != SearchRun.Status.DONE:
            failed.append(one["text"])
        seeds += [
            Seed(seed.question, seed.node, seed.origin, one["id"], answers=tuple(one["answers"]))
            for seed in from_results(found.run, depth)
        ]
        run.progress(PART, number, len(asked))
    with run.fenced(), transaction.atomic():
        store_searches(rows)
        held = set(queue.items.values_list("text_hash", "node_id"))
        new = {(seed.text_hash, seed.node): seed for seed in seeds}
        kept = [seed for key, seed in new.items() if key not in held][: queue.limit]
        add_items(queue, release, kept)
        queue.matched += len(kept)
        queue.state = AnnotationQueue.State.OPEN
        queue.arguments = queue.arguments | ({"failed": failed} if failed else {})
        queue.save(update_fields=["state", "matched", "arguments"])
    return {
        "knowledge_base": queue.knowledge_base.name, "queue": queue.name, "queue_id": queue.pk, "searched": len(asked),
        "failed": len(failed), "items": len(kept),
    }  # fmt: skip
