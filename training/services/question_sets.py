"""import_questions: store a file of questions as a version of a question set; equal content gives the same version."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, User
from django.db import transaction
from django.db.models import Max

from search.domain.errors import Fault, InvalidRequest, nearest
from search.domain.unstorable import storable
from search.models import KnowledgeBase
from search.services.audit.note import note
from training.data.changes import Changes, changes_between
from training.data.examples import BadQuestions, Example, read_all
from training.data.hashes import content_hash, question_hash
from training.data.pasted import read_pasted
from training.data.splits import TRAIN, counts
from training.data.stark import read_stark
from training.data.trec_topics import read_trec
from training.models import Question, QuestionSet
from training.services.check_questions import Prepared, SplitOptions, prepare_questions

MOST_NAME_CHARACTERS = 200
A_BATCH = 2_000
PASTED_ENDINGS = (".tsv", ".tab", ".txt")
MOST_VERSION = 2**31 - 1
"""The largest number of a version that Postgres can hold."""


def import_questions(
    *, knowledge_base: str, path: Path, name: str = "", qrels: Path | None = None
) -> tuple[QuestionSet, list[Example], bool]:
    """Read a file and return its question set, its questions, and whether the version is a new one.

    Evaluations and trainings keep the files that they are given in this way, unchecked. `qrels` is the file of
    judgments when the file holds TREC topics. `name` is the name of the set; the default is the file's name without
    endings. Raises BadQuestions with every invalid row, InvalidRequest when the knowledge base does not exist.
    """
    examples = read_questions(path, qrels)
    question_set, new = register_questions(
        knowledge_base=knowledge_base, examples=examples, name=name or name_of_file(path), source=str(path)
    )
    return question_set, examples, new


def import_checked(
    *,
    knowledge_base: str,
    path: Path,
    name: str = "",
    qrels: Path | None = None,
    options: SplitOptions | None = None,
) -> tuple[QuestionSet, Prepared, bool]:
    """Do as `import_questions` does with questions that are split and checked first (`prepare_questions`).

    Raises BadQuestions also when the check refuses the questions; nothing is stored then.
    """
    base = existing_base(knowledge_base)
    prepared = prepare_questions(base, read_questions(path, qrels), options or SplitOptions())
    question_set, new = store_prepared(
        knowledge_base=knowledge_base, prepared=prepared, name=name or name_of_file(path), source=str(path)
    )
    return question_set, prepared, new


def name_of_file(path: Path) -> str:
    """Return the name of a set by its file: without endings."""
    return path.name.split(".")[0]


def read_questions(path: Path, qrels: Path | None = None) -> list[Example]:
    """Return the questions of JSON lines, plain or gzip, STaRK's CSV, TREC topics (a folder, or a file and qrels), or
    lines of question, tab and answers (`PASTED_ENDINGS`).

    Raises BadQuestions with every invalid row.
    """
    if qrels is not None or path.is_dir():
        return read_trec(path, qrels)
    name = path.name.casefold().removesuffix(".gz")
    if path.is_file() and not path.stat().st_size:
        raise BadQuestions([f"{path.name} is empty."])
    if name.endswith(".csv"):
        return read_stark(path)
    return read_pasted(path) if name.endswith(PASTED_ENDINGS) else read_all(path)


def store_prepared(
    *,
    knowledge_base: str,
    prepared: Prepared,
    name: str,
    source: str = "",
    author: AbstractBaseUser | AnonymousUser | None = None,
) -> tuple[QuestionSet, bool]:
    """Store questions that were prepared. Raises BadQuestions when their check refuses them."""
    if prepared.refused:
        raise BadQuestions(list(prepared.refused))
    return register_questions(
        knowledge_base=knowledge_base, examples=prepared.examples, name=name, source=source, author=author,
        checks=prepared.checks,
    )  # fmt: skip


def register_questions(
    *,
    knowledge_base: str,
    examples: Sequence[Example],
    name: str,
    source: str = "",
    author: AbstractBaseUser | AnonymousUser | None = None,
    checks: Mapping[str, Any] | None = None,
) -> tuple[QuestionSet, bool]:
    """Return the version of a question set with exactly this content, and whether this call created it.

    Evaluations and trainings register the questions that they are given in this way, without a check. Raises
    InvalidRequest when the knowledge base does not exist or the name is invalid.
    """
    if not name.strip() or len(name) > MOST_NAME_CHARACTERS or not storable(name):
        raise InvalidRequest([Fault("/name", f"A question set has a name of 1 to {MOST_NAME_CHARACTERS} characters.")])
    hashed = content_hash(examples)
    with transaction.atomic():
        # The lock on the row of the knowledge base makes the numbers of versions unique.
        base = existing_base(knowledge_base, lock=True)
        versions = QuestionSet.objects.filter(knowledge_base=base, name=name)
        known = versions.filter(content_hash=hashed).first()
        if known is not None:
            return known, False
        newest = versions.aggregate(newest=Max("version"))["newest"] or 0
        made = QuestionSet.objects.create(
            knowledge_base=base, name=name, version=newest + 1, splits=counts(examples),
            questions_count=len(examples), source=source, content_hash=hashed, checks=checks or {},
            author=author if isinstance(author, User) else None,
        )  # fmt: skip
        Question.objects.bulk_create(
            [_row(made, position, example) for position, example in enumerate(examples)], batch_size=A_BATCH
        )
        note("question set made", made, user=author, questions=len(examples))
    return made, True


def existing_base(name: str, *, lock: bool = False) -> KnowledgeBase:
    """Return a knowledge base by its name, with its row locked if asked for. Raises InvalidRequest if there is none."""
    bases = KnowledgeBase.objects.all()
    found = (bases.select_for_update() if lock else bases.select_related("active_release__snapshot")).filter(
        name=name.replace("\x00", "")
    )
    base = found.first()
    if base is None:
        near = nearest(name, bases.values_list("name", flat=True))
        raise InvalidRequest([Fault("/knowledge_base", f"There is no knowledge base {name!r}.", near)])
    return base


def examples_of(question_set: QuestionSet) -> list[Example]:
    """Return the stored questions of a set, in their order."""
    rows = question_set.questions.order_by("position")
    return [Example(row.identifier, row.text, tuple(row.answers), row.split, row.slices, row.grades) for row in rows]


def version_before(question_set: QuestionSet) -> QuestionSet | None:
    """Return the version before this one, None for the first."""
    versions = QuestionSet.objects.filter(knowledge_base=question_set.knowledge_base_id, name=question_set.name)
    return versions.filter(version__lt=question_set.version).order_by("-version").first()


def changes_since(before: QuestionSet, after: QuestionSet) -> Changes:
    """Return what changed from one stored set to another."""
    return changes_between(examples_of(before), examples_of(after))


def resolved_set(knowledge_base: str, name: str) -> str:
    """Return `name@version` of a question set given as `name` (its newest version) or `name@version`.

    Raises InvalidRequest when there is no such set.
    """
    return name_of(find_set(knowledge_base, name))


def name_of(question_set: QuestionSet) -> str:
    """Return `name@version` of a question set."""
    return f"{question_set.name}@{question_set.version}"


def find_set(knowledge_base: str, name: str) -> QuestionSet:
    """Return a question set given as `name` (its newest version) or `name@version`. Raises InvalidRequest."""
    sets = QuestionSet.objects.filter(knowledge_base__name=knowledge_base).order_by("-version")
    base, _, version = name.rpartition("@")
    found = sets.filter(name=name).first()
    if found is None and base and version.isdecimal():
        found = sets.filter(name=base, version=min(int(version), MOST_VERSION)).first()
    if found is None:
        names = list(sets.order_by("name").values_list("name", flat=True).distinct()[:20])
        there = f"There are: {', '.join(names)}." if names else "It has none yet."
        message = f"{knowledge_base} has no question set {name[:80]!r}. {there}"
        raise InvalidRequest([Fault("/question_set", message, nearest(name, names))])
    return found


def listed_sets() -> list[tuple[str, str, int, int, dict[str, int]]]:
    """Return knowledge base, `name@version`, questions, those to learn from, and splits of every set, newest first.

    Those of the split `train` are learned from, and all of a set without splits.
    """
    sets = QuestionSet.objects.select_related("knowledge_base").order_by("knowledge_base__name", "name", "-version")
    return [
        (row.knowledge_base.name, f"{row.name}@{row.version}", row.questions_count,
         row.splits.get(TRAIN, 0) if any(row.splits) else row.questions_count,
         row.splits)
        for row in sets
    ]  # fmt: skip


def described_set(question_set: QuestionSet | None) -> dict[str, Any] | None:
    """Return the description of a question set for reports and artifacts; None when there is no set."""
    if question_set is None:
        return None
    return {
        "name": question_set.name, "version": question_set.version, "content_hash": question_set.content_hash,
    }  # fmt: skip


def _row(question_set: QuestionSet, position: int, example: Example) -> Question:
    return Question(
        question_set=question_set, position=position, identifier=_storable(example.id), text=_storable(example.text),
        answers=[_storable(answer) for answer in example.answers], split=_storable(example.split),
        slices={_storable(key): _storable(value) for key, value in example.slices.items()}, hash=question_hash(example),
        grades={_storable(node): grade for node, grade in example.grades.items()},
    )  # fmt: skip


def _storable(text: str) -> str:
    """Return a text that Postgres accepts: NUL and lone surrogates are replaced."""
    return text.replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
