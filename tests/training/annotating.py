"""Rows for tests of annotation: evaluations with outcomes as given, and queues of the films."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import Group, User

from search.models import KnowledgeBase, Node
from search.services.access.roles import ANNOTATOR, make_roles
from training.annotation.guidelines import default_guideline
from training.data.examples import Example
from training.data.hashes import question_hash
from training.models import AnnotationItem, AnnotationQueue, AskedQuestion, Evaluation, Judgement, Outcome
from training.services.annotation.item_rows import text_hash

FILMS = ("film/1", "film/2", "film/3")


def asked_evaluation(
    base: KnowledgeBase, questions: Mapping[str, Sequence[str]], found: Mapping[str, Sequence[Mapping[str, Any]]]
) -> Evaluation:
    """Return an evaluation of `questions` (text → answers); `found` has the outcomes of each pipeline in their order.

    An outcome is {ids, scores?, lost_at?, state?}.
    """
    release = base.active_release
    assert release is not None
    evaluation = Evaluation.objects.create(
        knowledge_base=base, questions=len(questions), release=release, release_name=release.name, code_version="test",
        status=Evaluation.Status.DONE, specifications=[{"label": label, "pipeline": label} for label in found],
    )  # fmt: skip
    for position, (text, answers) in enumerate(questions.items()):
        hashed = question_hash(Example(f"q{position}", text, tuple(answers)))
        asked = AskedQuestion.objects.create(
            evaluation=evaluation, position=position, identifier=f"q{position}", text=text, answers=list(answers),
            hash=hashed,
        )  # fmt: skip
        for label, outcomes in found.items():
            given = {"state": "answered", "scores": [], **outcomes[position]}
            Outcome.objects.create(evaluation=evaluation, question=asked, pipeline=label, **given)
    return evaluation


def queue_of(base: KnowledgeBase, items: int, overlap: int = 2, name: str = "films") -> AnnotationQueue:
    """Return a queue with this number of items about the films; nothing is shown of them yet."""
    release = base.active_release
    assert release is not None
    queue = AnnotationQueue.objects.create(
        knowledge_base=base, name=name, rule="random", items_count=items, overlap=overlap, guideline="Judge *well*.",
        release=release, release_name=release.name, pipelines=["secret-pipeline"], arguments={"depth": 77},
    )  # fmt: skip
    places = {"secret-pipeline": {"rank": 4711, "score": 0.8128, "run": None, "lost_at": "planned"}}
    AnnotationItem.objects.bulk_create(
        AnnotationItem(
            queue=queue, position=position, question=f"question {position}",
            text_hash=text_hash(f"question {position}"),
            node_id=FILMS[position % 3], answers=["film/1"], origin={"reason": "random", "pipelines": places},
        )
        for position in range(items)
    )  # fmt: skip
    return queue


def annotator(name: str) -> User:
    """Return an account with the role of annotators."""
    if not Group.objects.filter(name=ANNOTATOR).exists():
        make_roles()
    user = User.objects.create_user(name, password=name)
    user.groups.add(Group.objects.get(name=ANNOTATOR))
    return User.objects.get(pk=user.pk)


def node_queue(base: KnowledgeBase, items: int, overlap: int, name: str) -> AnnotationQueue:
    """Return a queue about the first nodes of a base, a question each."""
    release = base.active_release
    assert release is not None
    nodes = list(Node.objects.filter(snapshot_id=release.snapshot_id).order_by("key").values_list("id", "name")[:items])
    queue = AnnotationQueue.objects.create(
        knowledge_base=base, name=name, rule="random", items_count=items, overlap=overlap, release=release,
        guideline=default_guideline("random"), release_name=release.name,
    )  # fmt: skip
    AnnotationItem.objects.bulk_create(
        AnnotationItem(
            queue=queue, position=position, question=f"Question {position} about {called}?", node_id=node,
            text_hash=text_hash(f"{position} {called}"), node_name=called,
        )
        for position, (node, called) in enumerate(nodes[at % len(nodes)] for at in range(items))
    )  # fmt: skip
    return queue


def annotators(names: Sequence[str]) -> None:
    """Make accounts with the role of annotators, whose password is their name, unless they are there."""
    make_roles()
    for name in names:
        user, _ = User.objects.get_or_create(username=name)
        user.set_password(name)
        user.save()
        user.groups.add(Group.objects.get(name=ANNOTATOR))


def differences(queue: AnnotationQueue, said: Mapping[str, Mapping[int, str]]) -> dict[str, int]:
    """Compare what each person pressed for each item (the last key) with what is stored.

    `lost` were pressed and are not stored, `wrong` are stored otherwise, `unsaid` are stored and were not pressed,
    `doubled` are judgements of more than one row, `short` items that fewer people judged than could have.
    """
    pressed = {(name, item): key for name, keys in said.items() for item, key in keys.items()}
    rows = Judgement.objects.filter(item__queue=queue).exclude(verdict="withdrawn")
    stored: dict[tuple[str, int], list[str]] = {}
    for name, item, verdict, grade in rows.values_list("annotator_name", "item", "verdict", "grade"):
        stored.setdefault((name, item), []).append(verdict[0] if grade is None else str(grade))
    counted = Counter(item for (_, item), keys in stored.items() if keys[0] != "s")
    skipped = Counter(item for (_, item), keys in stored.items() if keys[0] == "s")
    able = {item: min(queue.overlap, len(said) - skipped[item]) for item in queue.items.values_list("pk", flat=True)}
    return {
        "pressed": len(pressed),
        "stored": len(stored),
        "lost": sum(one not in stored for one in pressed),
        "wrong": sum(one in stored and stored[one] != [key] for one, key in pressed.items()),
        "unsaid": sum(one not in pressed for one in stored),
        "doubled": sum(len(keys) > 1 for keys in stored.values()),
        "short": sum(counted[item] < wanted for item, wanted in able.items()),
        "over": sum(number > queue.overlap for number in counted.values()),
    }
