"""Files as people save them: byte order marks and Windows' line ends are read, other encodings named with the line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from training.data.examples import BadQuestions, Example
from training.data.pasted import made_id, read_pasted
from training.services.question_sets import read_questions

JSONL = "".join(
    json.dumps({"id": at, "text": f"Où {at}?", "answers": ["ä"]}, ensure_ascii=False) + "\r\n" for at in (1, 2)
)
CSV = 'id,query,answer_ids\r\n1,"Où, 1?","[""ä""]"\r\n2,Où 2?,"[""ä""]"\r\n'
TABS = "Où 1?\tä\r\nOù 2?\tä\r\n"
TOPICS = "1\tOù 1?\r\n2\tOù 2?\r\n"


@pytest.mark.parametrize(("name", "text"), [("q.jsonl", JSONL), ("q.csv", CSV), ("q.tsv", TABS)])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_marks_line_ends_and_gzip_are_read(tmp_path: Path, name: str, text: str, packed: bool, mark: bytes) -> None:
    path = tmp_path / (f"{name}.gz" if packed and name != "q.csv" else name)
    content = mark + text.encode()
    path.write_bytes(gzip.compress(content) if packed else content)
    found = read_questions(path)
    assert [one.answers for one in found] == [("ä",), ("ä",)]
    assert [one.text.replace(",", "") for one in found] == ["Où 1?", "Où 2?"]


@pytest.mark.parametrize(("name", "text", "line"), [("q.jsonl", JSONL, 1), ("q.csv", CSV, 2), ("q.tsv", TABS, 1)])
def test_latin_1_is_named_with_file_and_line(tmp_path: Path, name: str, text: str, line: int) -> None:
    path = tmp_path / name
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(BadQuestions) as refused:
        read_questions(path)
    (sentence,) = refused.value.faults
    assert sentence.startswith(f"{name}:{line}: cannot be read as UTF-8 text: byte ")
    assert "0xF9, in Latin-1 'ù'. Save the file as UTF-8." in sentence


def test_latin_1_topics_are_named_with_file_and_line(tmp_path: Path) -> None:
    topics, qrels = tmp_path / "topics.txt", tmp_path / "qrels.txt"
    topics.write_bytes(TOPICS.encode("latin-1"))
    qrels.write_text("1 0 x 1\n")
    with pytest.raises(BadQuestions, match=r"topics\.txt:1: cannot be read as UTF-8 text"):
        read_questions(topics, qrels)


@pytest.mark.parametrize("name", ["q.jsonl", "q.csv", "q.tsv"])
def test_an_empty_file_is_called_empty(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(BadQuestions, match=f"^{name} is empty.$"):
        read_questions(tmp_path / name)


def test_pasted_lines_are_questions_with_answers(tmp_path: Path) -> None:
    path = tmp_path / "pasted.tsv"
    path.write_text("Who made it?\tfilm/1\tfilm/2\tfilm/1\t\n\n Where? \t a b \n")
    assert read_pasted(path) == [
        Example(made_id("Who made it?"), "Who made it?", ("film/1", "film/2")),
        Example(made_id("Where?"), "Where?", ("a b",)),
    ]
    assert made_id("Where?") == made_id("where") != made_id("when")


def test_pasted_lines_that_cannot_be_used_are_named_all_at_once(tmp_path: Path) -> None:
    path = tmp_path / "pasted.tsv"
    path.write_text("Who made it?\nWhere?\t\n\tfilm/1\nWhen?\ta\nwhen\tb\n")
    with pytest.raises(BadQuestions) as refused:
        read_pasted(path)
    assert [fault.split(" ", 1)[0] for fault in refused.value.faults] == [
        "pasted.tsv:1:", "pasted.tsv:2:", "pasted.tsv:3:", "pasted.tsv:5:",
    ]  # fmt: skip
    assert "line 4" in refused.value.faults[-1]
