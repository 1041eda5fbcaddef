"""make_queue: a queue of items that a rule or a list chooses; plan_queue says before what it would hold."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction

from search.domain.errors import Fault, InvalidRequest, nearest
from search.domain.unstorable import storable
from search.models import KnowledgeBase, Release, SearchRun
from search.models.knowledge import BuildStatus
from search.services.jobs.launch import launch_job
from search.services.searches.check_request import check_question
from training.annotation.guidelines import default_guideline
from training.annotation.rules import FEEDBACK, TASKS, RuleArguments
from training.data.tasks import POINTER, LabelTask
from training.models import AnnotationItem, AnnotationQueue, Evaluation
from training.models.annotation import MOST_ITEMS, MOST_OVERLAP
from training.services.annotation.candidates import Matched, count_candidates, draw_candidates
from training.services.annotation.item_rows import (
    Seed,
    from_feedback,
    from_outcomes,
    from_results,
    from_searches,
    named_nodes,
)
from training.services.evaluations.describe import labels_of

A_BATCH = 500
MOST_SEARCHED = 200
"""Questions of a list that come without results, and are searched before anybody judges."""
FILL_QUEUE = "fill_queue"
"""The kind of job that searches them."""


@dataclass(frozen=True)
class QueuePlan:
    """A queue that was checked but not made: what decides its items, and how many candidates the rule matches.

    `sources` are pairs of an evaluation's id and a pipeline's label; `seeds` are set for single searches and lists,
    whose few candidates are known already. `searched` are questions whose results a job has to find first.
    """

    base: KnowledgeBase
    rule: str
    arguments: RuleArguments
    seed: int
    limit: int
    matched: Matched
    release: Release | None
    release_name: str
    sources: tuple[tuple[Any, str], ...] = ()
    seeds: tuple[Seed, ...] = ()
    searched: tuple[LabelTask, ...] = ()

    @property
    def sentence(self) -> str:
        """How many candidates match and how many of them the queue takes."""
        if self.searched:
            number = len(self.searched)
            first = f"{number:,} question{' is' if number == 1 else 's are'} searched first, "
            known = len(self.seeds)
            given = f"{known:,} result{' is' if known == 1 else 's are'} given; " if known else ""
            return f"{given}{first}and up to {self.arguments.depth} results of each are to be judged."
        if self.rule == FEEDBACK and not self.matched.count:
            return (
                "The rule matches nothing: no queue is made. Nobody has marked results of this knowledge base in the "
                "chosen ways yet; people do so with the buttons below each result."
            )
        return self.matched.sentence(self.limit)


def plan_queue(
    *, knowledge_base: KnowledgeBase, rule: str, arguments: Mapping[str, Any], seed: int = 0, limit: int = 200,
    tasks: Sequence[LabelTask] = (), user: AbstractBaseUser | AnonymousUser | None = None,
) -> QueuePlan:  # fmt: skip
    """Check a queue and count what its rule matches; nothing is stored.

    `user` reads the evaluations and searches; None is the system. `tasks` are those of the rule `TASKS`. Raises
    InvalidRequest with every fault.
    """
    if not 1 <= limit <= MOST_ITEMS:
        raise InvalidRequest([Fault("/limit", f"A queue holds 1 to {MOST_ITEMS:,} items.")])
    read = RuleArguments.parse(rule, arguments)
    if read.searches:
        runs = _searches(knowledge_base, read, user)
        seeds = tuple(from_searches(runs, read.depth, read.per_question))
        first = runs[0]
        return QueuePlan(knowledge_base, rule, read, seed, limit, Matched(len(seeds)), first.release,
                         first.release_name, seeds=seeds)  # fmt: skip
    if read.saved or rule == TASKS:
        release = knowledge_base.active_release
        if release is None:
            message = f"{knowledge_base} has no active release to show results of."
            raise InvalidRequest([Fault("/knowledge_base", message)])
        known, searched = (_of_tasks(tasks, release) if rule == TASKS
                           else (_of_saved(knowledge_base, read, user, release), ()))  # fmt: skip
        return QueuePlan(knowledge_base, rule, read, seed, limit, Matched(len(known)), release, release.name,
                         seeds=tuple(known), searched=tuple(searched))  # fmt: skip
    evaluations = _evaluations(knowledge_base, read, user)
    sources = _sources(rule, read, evaluations)
    release = evaluations[0].release if evaluations else knowledge_base.active_release
    if release is None and rule == FEEDBACK:
        raise InvalidRequest([Fault("/knowledge_base", f"{knowledge_base} has no active release to show items from.")])
    name = evaluations[0].release_name if evaluations else release.name if release else ""
    matched = count_candidates(rule, knowledge_base, read, sources, seed)
    return QueuePlan(knowledge_base, rule, read, seed, limit, matched, release, name, tuple(sources))


def make_queue(
    plan: QueuePlan, *, name: str, overlap: int = 2, guideline: str = "",
    author: AbstractBaseUser | AnonymousUser | None = None,
) -> AnnotationQueue:  # fmt: skip
    """Make the queue with its items, in an order that the seed shuffles.

    Raises InvalidRequest if the rule matches nothing, the name is taken, or the release has been dropped.
    """
    faults = []
    if not name.strip() or len(name) > 200 or not storable(name):
        faults.append(Fault("/name", "A queue has a name of 1 to 200 characters."))
    elif AnnotationQueue.objects.filter(knowledge_base=plan.base, name=name).exists():
        faults.append(Fault("/name", f"{plan.base} has a queue {name[:80]!r} already."))
    if not 1 <= overlap <= MOST_OVERLAP:
        faults.append(Fault("/overlap", f"1 to {MOST_OVERLAP} people judge each item."))
    if not plan.matched.count and not plan.searched:
        faults.append(Fault("/arguments", plan.sentence))
    if plan.release is None or plan.release.status != BuildStatus.READY:
        message = f"The release {plan.release_name} has been dropped, so nothing of it can be shown; evaluate anew."
        faults.append(Fault("/arguments/evaluations", message))
    if faults:
        raise InvalidRequest(faults)
    assert plan.release is not None
    arguments = dict(plan.arguments.given)
    if plan.searched:
        arguments["questions"] = [{"text": one.question, "id": one.identifier, "answers": list(one.answers)}
                                  for one in plan.searched]  # fmt: skip
    with transaction.atomic():
        queue = AnnotationQueue.objects.create(
            knowledge_base=plan.base, name=name.strip(), rule=plan.rule, arguments=arguments,
            seed=plan.seed, limit=plan.limit, matched=plan.matched.count, overlap=overlap,
            state=AnnotationQueue.State.FILLING if plan.searched else AnnotationQueue.State.OPEN,
            guideline=guideline.strip() or default_guideline(plan.rule), release=plan.release,
            evaluation_id=plan.sources[0][0] if plan.sources else None,
            release_name=plan.release_name, pipelines=list(dict.fromkeys(label for _, label in plan.sources)),
            author=author if isinstance(author, User) else None,
        )  # fmt: skip
        add_items(queue, plan.release, _seeds(plan))
    if plan.searched:
        # By the site itself: whoever may make queues need not have the right to launch jobs.
        launch_job(kind=FILL_QUEUE, knowledge_base=plan.base.name, arguments={"queue_id": queue.pk})
    return queue


def add_items(queue: AnnotationQueue, release: Release, seeds: Sequence[Seed]) -> None:
    """Add items behind those that a queue has, in an order that its seed shuffles. The caller opens the transaction."""
    shuffled = _shuffled(seeds, queue.seed)
    named = named_nodes(release, [one.node for one in shuffled])
    AnnotationItem.objects.bulk_create(
        (one.row(queue, position, *named.get(one.node, ("", "")))
         for position, one in enumerate(shuffled, queue.items_count)),
        batch_size=A_BATCH,
    )  # fmt: skip
    queue.items_count += len(shuffled)
    queue.save(update_fields=["items_count"])


def _of_tasks(tasks: Sequence[LabelTask], release: Release) -> tuple[list[Seed], list[LabelTask]]:
    """Return the tasks with results as items, and those to be searched. Raises InvalidRequest with every fault."""
    wanted = {one.result for one in tasks if one.result}.union(*(one.answers for one in tasks))
    there = named_nodes(release, sorted(wanted))
    faults = []
    for task in tasks:
        faults += [Fault(POINTER, f"Line {task.line}: {one.message}") for one in check_question(task.question)]
        for node in dict.fromkeys((task.result, *task.answers)):
            if node and node not in there:
                message = f"Line {task.line}: {release.name} has no entity with the id {node[:80]!r}."
                faults.append(Fault(POINTER, message))
    searched = [one for one in tasks if not one.result]
    if len(searched) > MOST_SEARCHED:
        message = f"{len(searched):,} questions come without results; {MOST_SEARCHED} are the most that are searched."
        faults.append(Fault(POINTER, message))
    if faults:
        raise InvalidRequest(faults)
    origin = {"reason": "list", "pipelines": {}}
    seeds = [Seed(one.question, one.result, origin, one.identifier, answers=one.answers) for one in tasks if one.result]
    return seeds, searched


def _of_saved(
    base: KnowledgeBase, read: RuleArguments, user: AbstractBaseUser | AnonymousUser | None, release: Release
) -> list[Seed]:
    """Return the first results of saved searches that today's release has, each question and node once."""
    runs = _answered(base, "saved", read.saved, user)
    seeds = {(one.text_hash, one.node): one for run in runs for one in from_results(run, read.depth)}
    there = named_nodes(release, sorted({one.node for one in seeds.values()}))
    return [one for one in seeds.values() if one.node in there]


def _seeds(plan: QueuePlan) -> list[Seed]:
    """Return the items, each question and node once."""
    found: Iterable[Seed] = plan.seeds[: plan.limit]
    if not plan.seeds and not plan.searched:
        drawn = draw_candidates(plan.rule, plan.base, plan.arguments, plan.sources, plan.seed, plan.limit)
        found = from_feedback(drawn) if plan.rule == FEEDBACK else from_outcomes(drawn, plan.sources)
    return list({(one.text_hash, one.node): one for one in found}.values())


def _shuffled(seeds: Sequence[Seed], seed: int) -> list[Seed]:
    """Return the items in an order that tells nothing of ranks; the same for the same seed."""
    ordered = sorted(seeds, key=lambda one: (one.text_hash, one.node))
    random.Random(seed).shuffle(ordered)
    return ordered


def _evaluations(
    base: KnowledgeBase, read: RuleArguments, user: AbstractBaseUser | AnonymousUser | None
) -> list[Evaluation]:
    seen = Evaluation.objects.filter(
        knowledge_base__in=KnowledgeBase.objects.visible_to(user), purpose=Evaluation.Purpose.REPORT
    )
    there = seen.select_related("release__knowledge_base", "release__snapshot").in_bulk(read.evaluations)
    if faults := _strangers(base, "/arguments/evaluations", "evaluation", read.evaluations, there):
        raise InvalidRequest(faults)
    return [there[one] for one in read.evaluations]


def _sources(rule: str, read: RuleArguments, evaluations: Sequence[Evaluation]) -> list[tuple[Any, str]]:
    """Return the pairs of evaluation and label that the rule looks at. Raises InvalidRequest."""
    pairs = [(one.pk, label) for one in evaluations for label in labels_of(one)]
    known = {label for _, label in pairs}
    faults = [
        Fault("/arguments/pipelines", f"No pipeline is called {label[:80]!r}; there are: {', '.join(sorted(known))}.",
              nearest(label, known))
        for label in read.pipelines if evaluations and label not in known
    ]  # fmt: skip
    chosen = [pair for pair in pairs if not read.pipelines or pair[1] in read.pipelines]
    if rule == "disagreement" and len(chosen) < 2 and not faults:
        message = "One pipeline alone disagrees with nobody; give two pipelines of one evaluation, or two evaluations."
        faults.append(Fault("/arguments/pipelines", message))
    if faults:
        raise InvalidRequest(faults)
    return chosen


def _searches(
    base: KnowledgeBase, read: RuleArguments, user: AbstractBaseUser | AnonymousUser | None
) -> list[SearchRun]:
    runs = _answered(base, "searches", read.searches, user)
    if len({run.question for run in runs}) > 1:
        message = "The searches ask different questions, so they cannot disagree."
        raise InvalidRequest([Fault("/arguments/searches", message)])
    return runs


def _answered(
    base: KnowledgeBase, argument: str, asked: Sequence[UUID], user: AbstractBaseUser | AnonymousUser | None
) -> list[SearchRun]:
    """Return searches that were answered. Raises InvalidRequest with every one that was not, or cannot be read."""
    seen = SearchRun.objects.all() if user is None else SearchRun.objects.visible_to(user)
    there = seen.select_related("release__knowledge_base", "release__snapshot").in_bulk(asked)
    faults = _strangers(base, f"/arguments/{argument}", "search", asked, there)
    faults += [
        Fault(f"/arguments/{argument}", f"The search {one} has not been answered.")
        for one, run in there.items() if run.status != SearchRun.Status.DONE
    ]  # fmt: skip
    if faults:
        raise InvalidRequest(faults)
    return [there[one] for one in asked]


def _strangers(
    base: KnowledgeBase, place: str, kind: str, asked: Sequence[UUID], there: Mapping[UUID, Evaluation | SearchRun]
) -> list[Fault]:
    """Return a fault for each of the rows that were `asked` for and are not there, or are of another base."""
    faults = []
    for one in asked:
        if one not in there:
            faults.append(Fault(place, f"There is no {kind} {one} that you may read."))
        elif there[one].knowledge_base_id != base.pk:
            faults.append(Fault(place, f"The {kind} {one} is of another knowledge base."))
    return faults
