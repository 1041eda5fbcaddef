"""Question sets: the same content is the same version, wherever it comes from."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from search.models import KnowledgeBase
from training.data.examples import BadQuestions, Example
from training.data.hashes import normalised, question_hash
from training.data.stark import read_stark
from training.models import Evaluation, Question, QuestionSet

ROWS = [
    {"id": "q1", "text": "Who made it?", "answers": ["film/1"], "split": "train", "hops": 1},
    {"id": "q2", "text": "What else\u0000?", "answers": ["film/2", "film/3"], "split": "val"},
]


def written(path: Path, rows: list[dict[str, Any]] = ROWS) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def imported(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("import_questions", "films", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_other_content_makes_another_version_and_the_same_content_none(films: KnowledgeBase, tmp_path: Path) -> None:
    path = written(tmp_path / "asked.jsonl")
    first = imported(str(path))
    assert first == {
        "knowledge_base": "films", "question_set": "asked", "version": 1, "questions": 2,
        "splits": {"train": 1, "val": 1}, "content_hash": first["content_hash"], "new": True, "checks": first["checks"],
    }  # fmt: skip
    again = imported(str(written(tmp_path / "copy.jsonl")), "--set-name", "asked")
    assert (again["version"], again["new"], again["content_hash"]) == (1, False, first["content_hash"])
    written(path, ROWS[:1])
    assert imported(str(path))["version"] == 2
    assert imported(str(path), "--set-name", "other")["version"] == 1
    kept = Question.objects.filter(question_set__name="asked", question_set__version=1)
    assert [(q.identifier, q.text, q.answers, q.split, q.slices) for q in kept] == [
        ("q1", "Who made it?", ["film/1"], "train", {"hops": "1"}),
        ("q2", "What else\ufffd?", ["film/2", "film/3"], "val", {}),
    ]


def test_an_evaluation_keeps_its_questions_as_a_set_without_being_asked(films: KnowledgeBase, tmp_path: Path) -> None:
    path = written(tmp_path / "asked.jsonl")
    for _ in range(2):
        call_command("evaluate", "films", "--questions", str(path), "--split", "train", "--pipeline", "text",
                     "--output", str(tmp_path / "out"), "--json", stdout=StringIO())  # fmt: skip
    question_set = QuestionSet.objects.get()
    assert (question_set.name, question_set.version, question_set.questions_count) == ("asked", 1, 2)
    report = json.loads((tmp_path / "out" / "report.json").read_text())
    assert report["question_set"] == {
        "name": "asked", "version": 1, "content_hash": question_set.content_hash,
    }  # fmt: skip
    assert {row.question_set for row in Evaluation.objects.all()} == {question_set}
    assert report["pipelines"]["text"]["seen_in_training"] == 0


def test_a_question_has_the_same_hash_whatever_its_case_punctuation_id_and_split() -> None:
    one = Example("1", "Who  made “Amber Road”?", ("b", "a"), "train")
    assert normalised(one.text) == "who made amber road"
    assert question_hash(one) == question_hash(Example("2", "who made amber road", ("a", "b"), "val", {"hops": "1"}))
    assert question_hash(one) != question_hash(Example("1", one.text, ("a",), "train"))
    assert question_hash(one) != question_hash(Example("1", "who made amber", ("a", "b"), "train"))
    assert question_hash(Example("1", "?!", ("a",))) != question_hash(Example("1", "!!", ("a",)))


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "FILE"], "There is no knowledge base 'nowhere'."),
        (["films", "/nowhere.jsonl"], "cannot be read"),
        (["films", "FILE", "--set-name", "x" * 201], "A question set has a name of 1 to 200 characters."),
    ],
)
def test_bad_arguments_get_a_sentence_and_exit_2(
    films: KnowledgeBase, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    path = written(tmp_path / "asked.jsonl")
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("import_questions", *(str(path) if a == "FILE" else a for a in arguments), stderr=errors)
    assert ended.value.code == 2
    assert sentence in errors.getvalue()
    assert not QuestionSet.objects.exists()


def test_starks_files_are_read_with_the_splits_beside_them(tmp_path: Path) -> None:
    folder = tmp_path / "stark_qa"
    folder.mkdir()
    (tmp_path / "split").mkdir()
    (tmp_path / "split" / "train.index").write_text("0\n2\n")
    (tmp_path / "split" / "test-0.1.index").write_text("1\n")
    (tmp_path / "split" / "test.index").write_text("1\n")
    path = folder / "stark_qa.csv"
    path.write_text('id,query,answer_ids\n0,"What, then?","[5, 6, 5]"\n1,Who?,[7]\n2,Where?,[8]\n')
    assert read_stark(path) == [
        Example("0", "What, then?", ("5", "6"), "train"),
        Example("1", "Who?", ("7",), "test"),
        Example("2", "Where?", ("8",), "train"),
    ]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("id,query\n1,Who?\n", "lacks the columns answer_ids; it takes id, query, answer_ids."),
        ("id,query,answer_ids\n1,Who?,[]\n", "q.csv:2: answer_ids must be a list of node ids that is not empty"),
        ("id,query,answer_ids\n1,Who?,5\n", "q.csv:2: answer_ids must be a list"),
        ("id,query,answer_ids\n1,,[5]\n", "q.csv:2: id and query must not be empty."),
        ("id,query,answer_ids\n1,a,[5]\n1,b,[5]\n", "q.csv:3: the id '1' was used before."),
        ("id,query,answer_ids\n", "q.csv has no question."),
        ("", "q.csv lacks the columns id, query, answer_ids"),
    ],
)
def test_a_csv_file_that_is_none_of_starks_gets_a_sentence(tmp_path: Path, content: str, sentence: str) -> None:
    path = tmp_path / "q.csv"
    path.write_text(content)
    with pytest.raises(BadQuestions) as refused:
        read_stark(path)
    assert any(sentence in fault for fault in refused.value.faults), refused.value.faults
