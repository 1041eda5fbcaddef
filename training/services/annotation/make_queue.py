"""make_queue: a queue of items that a rule chooses; plan_queue says before what it would hold."""

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
from training.annotation.guidelines import default_guideline
from training.annotation.rules import FEEDBACK, RuleArguments
from training.models import AnnotationItem, AnnotationQueue, Evaluation
from training.models.annotation import MOST_ITEMS, MOST_OVERLAP
from training.services.annotation.candidates import Matched, count_candidates, draw_candidates
from training.services.annotation.item_rows import Seed, from_feedback, from_outcomes, from_searches, named_nodes
from training.services.evaluations.describe import labels_of

A_BATCH = 500


@dataclass(frozen=True)
class QueuePlan:
    """A queue that was checked but not made: what decides its items, and how many candidates the rule matches.

    `sources` are pairs of an evaluation's id and a pipeline's label; `seeds` are set for single searches, whose few
    candidates are known already.
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

    @property
    def sentence(self) -> str:
        """How many candidates match and how many of them the queue takes."""
        if self.rule == FEEDBACK and not self.matched.count:
            return (
                "The rule matches nothing: no queue is made. Nobody has marked results of this knowledge base in the "
                "chosen ways yet; people do so with the buttons below each result."
            )
        return self.matched.sentence(self.limit)


def plan_queue(
    *, knowledge_base: KnowledgeBase, rule: str, arguments: Mapping[str, Any], seed: int = 0, limit: int = 200,
    user: AbstractBaseUser | AnonymousUser | None = None,
) -> QueuePlan:  # fmt: skip
    """Check a queue and count what its rule matches; nothing is stored.

    `user` reads the evaluations and searches; None is the system. Raises InvalidRequest with every fault.
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
    if not plan.matched.count:
        faults.append(Fault("/arguments", plan.sentence))
    if plan.release is None or plan.release.status != BuildStatus.READY:
        message = f"The release {plan.release_name} has been dropped, so nothing of it can be shown; evaluate anew."
        faults.append(Fault("/arguments/evaluations", message))
    if faults:
        raise InvalidRequest(faults)
    assert plan.release is not None
    seeds = _shuffled(_seeds(plan), plan.seed)
    named = named_nodes(plan.release, [one.node for one in seeds])
    with transaction.atomic():
        queue = AnnotationQueue.objects.create(
            knowledge_base=plan.base, name=name.strip(), rule=plan.rule, arguments=dict(plan.arguments.given),
            seed=plan.seed, limit=plan.limit, matched=plan.matched.count, items_count=len(seeds), overlap=overlap,
            guideline=guideline.strip() or default_guideline(plan.rule), release=plan.release,
            evaluation_id=plan.sources[0][0] if plan.sources else None,
            release_name=plan.release_name, pipelines=list(dict.fromkeys(label for _, label in plan.sources)),
            author=author if isinstance(author, User) else None,
        )  # fmt: skip
        AnnotationItem.objects.bulk_create(
            (one.row(queue, position, *named.get(one.node, ("", ""))) for position, one in enumerate(seeds)),
            batch_size=A_BATCH,
        )
    return queue


def _seeds(plan: QueuePlan) -> list[Seed]:
    """Return the items, each question and node once."""
    found: Iterable[Seed] = plan.seeds[: plan.limit]
    if not plan.seeds:
        drawn = draw_candidates(plan.rule, plan.base, plan.arguments, plan.sources, plan.seed, plan.limit)
        found = from_feedback(drawn) if plan.rule == FEEDBACK else from_outcomes(drawn, plan.sources)
    return list({(one.text_hash, one.node): one for one in found}.values())


def _shuffled(seeds: list[Seed], seed: int) -> list[Seed]:
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
    if faults := _strangers(base, "evaluation", read.evaluations, there):
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
    seen = SearchRun.objects.all() if user is None else SearchRun.objects.visible_to(user)
    there = seen.select_related("release__knowledge_base", "release__snapshot").in_bulk(read.searches)
    faults = _strangers(base, "search", read.searches, there)
    faults += [
        Fault("/arguments/searches", f"The search {one} has not been answered.")
        for one, run in there.items() if run.status != SearchRun.Status.DONE
    ]  # fmt: skip
    if len({run.question for run in there.values()}) > 1:
        faults.append(Fault("/arguments/searches", "The searches ask different questions, so they cannot disagree."))
    if faults:
        raise InvalidRequest(faults)
    return [there[one] for one in read.searches]


def _strangers(
    base: KnowledgeBase, kind: str, asked: Sequence[UUID], there: Mapping[UUID, Evaluation | SearchRun]
) -> list[Fault]:
    """Return a fault for each of the rows that were `asked` for and are not there, or are of another base."""
    pointer = {"evaluation": "/arguments/evaluations", "search": "/arguments/searches"}[kind]
    faults = []
    for one in asked:
        if one not in there:
            faults.append(Fault(pointer, f"There is no {kind} {one} that you may read."))
        elif there[one].knowledge_base_id != base.pk:
            faults.append(Fault(pointer, f"The {kind} {one} is of another knowledge base."))
    return faults
