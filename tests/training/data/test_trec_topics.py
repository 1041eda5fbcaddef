"""TREC topics with qrels: the layouts that there are, what evaluate writes read back, and every fault at once."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from training.data.examples import BadQuestions, Example
from training.data.trec_topics import read_trec
from training.evaluation.trec import encode, qrels_lines

OLD = """
<top>

<num> Number: 301
<title> International Organized
Crime

<desc> Description:
Identify organizations &amp; people.

<narr> Narrative: Of no use.
</top>
<top>
<num> Number: 302
<title>
<desc> Description: Is polio under control?
</top>
"""
XML = """<?xml version="1.0"?>
<topics task="covid">
<topic number="1"><query>coronavirus origin</query><question>what is its origin</question></topic>
<topic number='2'><query>weather &lt; 5</query></topic>
</topics>
"""


def written(folder: Path, **files: str) -> Path:
    for name, content in files.items():
        (folder / name.replace("__", ".")).write_text(content)
    return folder


def test_topics_of_old_collections(tmp_path: Path) -> None:
    written(
        tmp_path, topics="" + OLD, qrels="301 0 FBIS3-1 1\n301 0 FBIS3-2 0\n302 0 LA-2 0\n302 0 LA-1 2\n301 0 FT-9 1\n"
    )
    assert read_trec(tmp_path) == [
        Example(
            "301", "International Organized Crime", ("FBIS3-1", "FT-9"),
            grades={"FBIS3-1": 1, "FBIS3-2": 0, "FT-9": 1},
        ),
        Example("302", "Is polio under control?", ("LA-1",), grades={"LA-2": 0, "LA-1": 2}),
    ]  # fmt: skip


def test_qrels_of_answers_alone_judge_nothing_else(tmp_path: Path) -> None:
    written(tmp_path, topics="" + OLD, qrels="301 0 a 1\n301 0 b -1\n302 0 c 1\n")
    assert [one.grades for one in read_trec(tmp_path)] == [{}, {}]


def test_topics_as_xml_and_qrels_beside_in_another_place(tmp_path: Path) -> None:
    written(tmp_path, a__xml=XML, b__txt="1 Q0 x 1\n2 Q0 y -1\n2 Q0 z 1\n")
    found = read_trec(tmp_path / "a.xml", tmp_path / "b.txt")
    assert [(one.id, one.text, one.answers) for one in found] == [
        ("1", "coronavirus origin", ("x",)), ("2", "weather < 5", ("z",)),
    ]  # fmt: skip


def test_what_evaluate_writes_is_read_back(tmp_path: Path) -> None:
    examples = [
        Example("q 1%", "who made it", ("film/1", "a b", "100%25")),
        Example("ü", "what else", ("x\u00a0y",)),
    ]
    topics = "".join(f"{encode(one.id)}\t{one.text}\n" for one in examples)
    written(tmp_path, queries__tsv=topics, qrels="".join(qrels_lines(examples)))
    assert read_trec(tmp_path) == examples


def test_the_names_of_qrels_give_the_splits_and_topics_without_an_answer_are_left_out(tmp_path: Path) -> None:
    written(tmp_path, topics__tsv="1\tone\n2\ttwo\n3\tthree\n4\tfour\n", qrels__train__txt="1 0 a 1\n",
            qrels_val="2 0 b 1\n3 0 c 0\n")  # fmt: skip
    (tmp_path / "README").write_text("of no use")
    assert [(one.id, one.split) for one in read_trec(tmp_path)] == [("1", "train"), ("2", "val")]


def test_files_may_be_packed(tmp_path: Path) -> None:
    (tmp_path / "topics.tsv.gz").write_bytes(gzip.compress(b"1\tone\n"))
    (tmp_path / "qrels.gz").write_bytes(gzip.compress(b"1 0 a 1\n"))
    assert read_trec(tmp_path) == [Example("1", "one", ("a",))]


@pytest.mark.parametrize(
    ("files", "sentences"),
    [
        ({"topics": "1\tone\n"}, ["has no file whose name holds 'qrels'."]),
        ({"qrels": "1 0 a 1\n"}, ["has no file whose name holds 'topics'."]),
        (
            {"topics": "1\tone\nbroken\n1\tagain\n", "qrels": "1 0 a\n1 0 a --1\n9 0 a 1\n"},
            [
                "topics:2: a topic is an id, a tab and a text.",
                "topics: the topic '1' is there twice.",
                "qrels:1: a line of qrels is a topic, an iteration, a document and a whole number.",
                "qrels:2: a line of qrels is a topic, an iteration, a document and a whole number.",
                "qrels:3: there is no topic '9'.",
            ],
        ),
        ({"topics": "1\tone\n", "qrels": "1 0 a 0\n"}, ["has no topic to which its qrels have an answer."]),
        (
            {"topics": "1\tone\n", "qrels.val": "1 0 a 1\n", "qrels.train": "1 0 a 1\n"},
            ["qrels.val:1: the topic '1' is in the split 'train' already."],
        ),
        (
            {"topics": "<top><num>1<title></top><top><num>2<title>two", "qrels": "2 0 a 1\n"},
            ["a topic takes a number and a title; '1' lacks one.", "the last topic does not end.", "no topic '2'"],
        ),
    ],
)
def test_every_fault_is_told_at_once(tmp_path: Path, files: dict[str, str], sentences: list[str]) -> None:
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    with pytest.raises(BadQuestions) as raised:
        read_trec(tmp_path)
    assert len(raised.value.faults) == len(sentences)
    for fault, sentence in zip(raised.value.faults, sentences, strict=True):
        assert sentence in fault


@pytest.mark.parametrize("content", ["<" * 50, "<top>" * 10, "<a" * 25, "<top><num>1" * 5, '<topic number="' * 4])
def test_a_long_file_without_a_topic_is_read_in_one_pass(tmp_path: Path, content: str) -> None:
    # Megabytes of tags that never end: a reader that looks on to the end from each of them would take hours.
    written(tmp_path, topics=content * 100_000, qrels="1 0 a 1\n")
    with pytest.raises(BadQuestions):
        read_trec(tmp_path)
