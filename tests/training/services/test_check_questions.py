"""What an import checks: duplicates across splits, answers that are no nodes; nothing is stored of what is refused."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from search.models import KnowledgeBase
from search.services.knowledge.nearest_nodes import nearest_id, unknown_ids
from training.data.examples import BadQuestions, Example
from training.models import Question, QuestionSet
from training.services.check_questions import KEEP, MOVE, Prepared, SplitOptions, prepare_questions
from training.services.question_sets import changes_since, store_prepared, version_before

LEAKING = [
    Example("t", "Who made Amber Road?", ("person/1",), "train"),
    Example("v", "who made amber road", ("person/1",), "val"),
    Example("w", "Which films are from 2011?", ("film/3",), "val"),
]


def prepared(base: KnowledgeBase, examples: list[Example], **options: Any) -> Prepared:
    return prepare_questions(base, examples, SplitOptions(**options))


def test_a_question_in_two_splits_refuses_the_set_and_names_what_it_is_near_to(films: KnowledgeBase) -> None:
    found = prepared(films, LEAKING)
    assert found.checks["duplicates"] == {
        "groups": 1, "questions": 2, "by_kind": {"same text": 1}, "across_splits": 1, "moved": 0,
        "shown": [{
            "first": {"id": "t", "text": "Who made Amber Road?", "split": "train"},
            "second": {"id": "v", "text": "who made amber road", "split": "val"},
            "kind": "same text", "likeness": 1.0, "across_splits": True,
        }],
    }  # fmt: skip
    assert "'t' in 'train' is near to 'v' in 'val' (same text)" in found.refused[0]
    with pytest.raises(BadQuestions, match="in different splits"):
        store_prepared(knowledge_base="films", prepared=found, name="asked")
    assert not QuestionSet.objects.exists()


def test_an_explicit_choice_moves_the_whole_group_or_keeps_it(films: KnowledgeBase) -> None:
    moved = prepared(films, LEAKING, duplicates=MOVE, into="train")
    assert [one.split for one in moved.examples] == ["train", "train", "val"]
    assert (moved.checks["duplicates"]["moved"], moved.checks["duplicates"]["across_splits"], moved.refused) == (
        1,
        0,
        (),
    )
    assert moved.checks["splits"] == {"train": 2, "val": 1}
    kept = prepared(films, LEAKING, duplicates=KEEP)
    assert (kept.checks["duplicates"]["across_splits"], kept.refused) == (1, ())
    question_set, new = store_prepared(knowledge_base="films", prepared=kept, name="asked")
    question_set.refresh_from_db()
    assert new
    assert question_set.checks == kept.checks


def test_unknown_answers_are_listed_with_the_nearest_ids(films: KnowledgeBase) -> None:
    examples = [
        Example("1", "Who?", ("person/l", "film/1")), Example("2", "What?", ("Ada Holm",)),
        Example("3", "Where?", ("zzzzzzzzzzzz\x00",)),
    ]  # fmt: skip
    found = prepared(films, examples)
    assert found.refused == ()
    assert found.checks["answers"] == {
        "release": "films-1", "known": 1, "unknown": 3, "questions_without": 2,
        "shown": [
            {"answer": "person/l", "nearest": "person/1", "questions": ["1"]},
            {"answer": "Ada Holm", "nearest": "person/1", "questions": ["2"]},
            {"answer": "zzzzzzzzzzzz\x00", "nearest": None, "questions": ["3"]},
        ],
    }  # fmt: skip


def test_the_id_behind_a_type_is_the_nearest_one(films: KnowledgeBase) -> None:
    assert nearest_id(films.active_release, "film:film/1") == "film/1"  # type: ignore[arg-type]


def test_a_set_whose_answers_are_all_unknown_is_refused(films: KnowledgeBase) -> None:
    found = prepared(films, [Example("1", "Who?", ("person/l",)), Example("2", "What?", ("x",))])
    assert found.refused == (
        "None of the answers is a node of films-1, for example 'person/l' (is 'person/1' meant?); these questions are "
        "about another knowledge base, or the answers are not written as ids of nodes.",
    )


def test_answers_of_a_base_without_a_release_are_not_looked_up(films: KnowledgeBase) -> None:
    films.active_release = None
    assert prepared(films, [Example("1", "Who?", ("x",))]).checks["answers"] == {"release": None}


def test_the_nearest_id_of_a_large_release_is_looked_for_beside_it(films: KnowledgeBase) -> None:
    release = films.active_release
    assert release is not None
    release.snapshot.nodes = 10_000_000
    assert nearest_id(release, "film/11") == "film/1"
    assert nearest_id(release, "\ud800") is None
    assert unknown_ids(release, ["film/1", "film/9", "\x00", "film/9"]) == {"film/9", "\x00"}


def test_questions_without_splits_are_divided_with_duplicates_together(films: KnowledgeBase) -> None:
    examples = [Example(str(at), f"Who made thing{at}?", ("film/1",)) for at in range(60)]
    examples += [Example(f"{one.id}b", one.text.upper(), one.answers) for one in examples[:30]]
    found = prepared(films, examples, shares={"train": 2.0, "val": 1.0}, seed=3)
    split = {one.id: one.split for one in found.examples}
    assert all(split[str(at)] == split[f"{at}b"] for at in range(30))
    assert found.checks["splits"].keys() == {"train", "val"}
    assert found.refused == ()
    with pytest.raises(BadQuestions, match="have splits already, such as 'train'"):
        prepared(films, LEAKING, shares={"train": 1.0})


def test_versions_are_compared_with_the_one_before(films: KnowledgeBase) -> None:
    first, _ = store_prepared(knowledge_base="films", prepared=Prepared(tuple(LEAKING), {}), name="asked")
    second, _ = store_prepared(knowledge_base="films", prepared=Prepared(tuple(LEAKING[:2]), {}), name="asked")
    assert version_before(first) is None
    assert version_before(second) == first
    assert changes_since(first, second).removed == (LEAKING[2],)


def written(path: Path, examples: list[Example]) -> Path:
    rows = [{"id": one.id, "text": one.text, "answers": one.answers, "split": one.split} for one in examples]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_the_command_refuses_moves_and_divides(films: KnowledgeBase, tmp_path: Path) -> None:
    path = written(tmp_path / "asked.jsonl", LEAKING)
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("import_questions", "films", str(path), stderr=errors)
    assert (ended.value.code, Question.objects.count()) == (2, 0)
    assert "in different splits" in errors.getvalue()
    out = StringIO()
    call_command("import_questions", "films", str(path), "--move-duplicates", "val", stdout=out)
    assert QuestionSet.objects.get().splits == {"val": 3}
    assert (
        "2 questions say the same as another, in 1 groups. 0 groups are in different splits; 1 questions"
        in out.getvalue()
    )


def test_the_command_reads_pasted_lines_and_tells_unknown_answers(films: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "pasted.txt"
    path.write_text("Who made Amber Road?\tperson/1\tperson/l\n")
    out = StringIO()
    call_command("import_questions", "films", str(path), stdout=out)
    assert "1 answers are no node of films-1:" in out.getvalue()
    assert "'person/l' (question '" in out.getvalue()
    assert "the nearest is 'person/1'" in out.getvalue()
