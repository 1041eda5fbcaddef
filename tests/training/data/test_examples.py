import gzip
import json
from pathlib import Path

import pytest

from training.data.examples import BadQuestions, Example, read_examples


def write(path: Path, *rows: object) -> Path:
    path.write_text("".join((row if isinstance(row, str) else json.dumps(row)) + "\n" for row in rows), "utf-8")
    return path


def test_a_row_becomes_an_example_and_further_keys_become_slices(tmp_path: Path) -> None:
    row = {"id": "q1", "text": "Who?", "answers": ["a", "a", "b"], "split": "val", "hops": 2, "path": ["x"]}
    assert read_examples(write(tmp_path / "q.jsonl", row)) == [Example("q1", "Who?", ("a", "b"), "val", {"hops": "2"})]


def test_grades_are_of_nodes_that_people_judged(tmp_path: Path) -> None:
    row = {"id": "q1", "text": "Who?", "answers": ["a"], "grades": {"a": 3, "b": 0}}
    example = read_examples(write(tmp_path / "q.jsonl", row))[0]
    assert (example.grades, example.judged) == ({"a": 3, "b": 0}, {"a", "b"})
    assert read_examples(write(tmp_path / "s.jsonl", row | {"grades": "A"}))[0].slices == {"grades": "A"}
    assert Example("q", "?", ("a",)).judged == frozenset()
    for wrong in ({"a": -1}, {"a": True}, {"a": 1.5}):
        with pytest.raises(BadQuestions, match="whole numbers from 0"):
            read_examples(write(tmp_path / "q.jsonl", row | {"grades": wrong}))


def test_gzip_is_told_by_its_content_and_not_by_its_name(tmp_path: Path) -> None:
    path = tmp_path / "questions"
    path.write_bytes(gzip.compress(b'{"id": 1, "text": "Wer?", "answers": [7]}\n'))
    assert read_examples(path) == [Example("1", "Wer?", ("7",))]


def test_split_and_limit_choose_questions(tmp_path: Path) -> None:
    rows = [{"id": str(i), "text": "?", "answers": ["a"], "split": "val" if i % 2 else "train"} for i in range(6)]
    path = write(tmp_path / "q.jsonl", *rows)
    assert [example.id for example in read_examples(path, "val", 9)] == ["1", "3", "5"]


def test_a_limit_takes_questions_from_all_over_the_file(tmp_path: Path) -> None:
    rows = [{"id": str(i), "text": "?", "answers": ["a"]} for i in range(10)]
    path = write(tmp_path / "q.jsonl", *rows)
    assert [example.id for example in read_examples(path, limit=4)] == ["0", "2", "5", "7"]


def test_every_fault_is_said_at_once_with_its_row(tmp_path: Path) -> None:
    path = write(
        tmp_path / "q.jsonl",
        {"id": "q1", "text": "ok", "answers": ["a"]},
        "{not json",
        {"id": "q1", "text": "again", "answers": ["a"]},
        {"id": "q3", "text": " ", "answers": []},
        ["a list"],
    )
    with pytest.raises(BadQuestions) as caught:
        read_examples(path)
    assert [fault.split(":")[1] for fault in caught.value.faults] == ["2", "3", "4", "4", "5"]


def test_a_split_that_is_not_there_is_answered_with_those_that_are(tmp_path: Path) -> None:
    path = write(tmp_path / "q.jsonl", {"id": "q", "text": "?", "answers": ["a"], "split": "val"})
    with pytest.raises(BadQuestions, match=r"no question of split 'train'; its splits are: val\."):
        read_examples(path, "train")


@pytest.mark.parametrize("content", [b"\xff\xfe\x00", b"\x1f\x8b\x08broken"])
def test_a_file_of_another_kind_gets_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "q.jsonl"
    path.write_bytes(content)
    with pytest.raises(BadQuestions, match="cannot be read as UTF-8 text"):
        read_examples(path)


def test_a_missing_file_gets_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(BadQuestions, match="cannot be read"):
        read_examples(tmp_path / "nowhere.jsonl")
