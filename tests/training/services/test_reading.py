"""What the benchmarks of reading count: first answers, whole sets, sure and wrong ones, kinds, and what rules bring."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import ledger, reading
from benchmarks.common import NotHere
from benchmarks.ledger import Row
from benchmarks.question_sets import QuestionSet, kind_of, question_sets
from benchmarks.reading_outcome import Reader, ReadOutcome
from search.models import KnowledgeBase
from training.data.examples import Example

FIRST, SECOND = "Balempid Nine", "Balempid Prime"
"""The first two things of the makers, `t0` and `t1`."""


def example(number: int, text: str, *answers: str, kind: str = "name") -> Example:
    return Example(f"m{number}", text, answers, "val", {"kind": kind})


def questions(folder: Path) -> Path:
    rows = [
        {"id": "m1", "text": FIRST, "answers": ["t0"], "split": "val", "kind": "name"},
        {"id": "m2", "text": SECOND, "answers": ["t0", "t1"], "split": "val", "kind": "name"},
        {"id": "m3", "text": "what is it about", "answers": ["t0"], "split": "train", "kind": "text"},
    ]
    path = folder / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.django_db
def test_an_outcome_holds_what_the_first_plan_finds_against_the_answers(makers_base: KnowledgeBase) -> None:
    reader = Reader.of("makers")
    right, part, wrong, text = (
        reader.outcome("a set", one) for one in (
            example(1, FIRST, "t0"), example(2, FIRST, "t0", "t1"), example(3, FIRST, "t1"),
            example(4, "whatever might that be", "t0"),
        )
    )  # fmt: skip
    assert [(one.right, one.whole) for one in (right, part, wrong, text)] == [
        (True, True), (True, False), (False, False), (False, False),
    ]  # fmt: skip
    assert (part.wanted, part.found, part.answers, part.answered) == ((FIRST, SECOND), (FIRST,), 2, 1)
    assert right.probability == part.probability is not None
    # What leaves the question to texts is neither sure nor found.
    assert (text.probability, text.answered, text.is_sure) == (None, 0, False)
    assert right.seconds > 0
    assert ReadOutcome.from_json(json.loads(json.dumps(right.to_json()))) == right


@pytest.mark.parametrize(
    ("probability", "right", "whole", "counts"),
    [(0.8, True, False, True), (0.8, False, False, True), (0.8, True, True, False), (0.79, False, False, False),
     (None, False, False, False)],
)  # fmt: skip
def test_sure_and_wrong_is_a_wrong_first_answer_or_set_at_eight_of_ten(
    probability: float | None, right: bool, whole: bool, counts: bool
) -> None:
    one = ReadOutcome("s", "b", "1", "?", "k", right, whole, probability, (), (), (), 1, 1, 0.0)
    assert one.is_sure_and_wrong == counts


@pytest.mark.django_db
def test_the_command_reads_a_file_of_questions_and_compares_with_an_earlier_run(
    makers_base: KnowledgeBase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, saved = questions(tmp_path), tmp_path / "saved.jsonl"
    reading.main(["--sets", f"makers={path}", "--save", str(saved)])
    assert [(one.id, one.right, one.whole) for one in reading.read_outcomes(saved)] == [
        ("m1", True, True), ("m2", True, False), ("m3", False, False),
    ]  # fmt: skip
    reading.main(["--sets", f"makers={path},geo", "--split", "val", "--against", str(saved)])
    told = capsys.readouterr().out
    assert "Won 0, lost 0 of 2 questions." in told
    assert "wanted 2: Balempid Nine | Balempid Prime" in told
    assert "geo: not imported; left out." in told
    with pytest.raises(NotHere, match="import the knowledge bases first"):
        reading.main(["--sets", f"nothing={path}"])
    with pytest.raises(NotHere, match=r"no set 'gee' of questions; there are: geo, asked"):
        reading.main(["--sets", "gee"])


@pytest.mark.django_db
def test_the_ledger_says_what_is_lost_without_each_rule(
    makers_base: KnowledgeBase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reader = Reader.of("makers")
    plans, _ = reader.planned(FIRST)
    found = reader.tools.nodes.ids(reader.executed(plans[0]))
    asked, saved = tmp_path / "asked.jsonl", tmp_path / "ledger.jsonl"
    asked.write_text(json.dumps({"id": "m1", "text": FIRST, "answers": found, "kind": "name"}), encoding="utf-8")
    ledger.main(["--sets", f"makers={asked}", "--save", str(saved), "--first", "3"])
    rows = {row["id"]: row for row in map(json.loads, saved.read_text(encoding="utf-8").splitlines())}
    assert set(ledger.known_ids()) <= set(rows)
    # Without the names as they are stored nothing is found. No question says a number.
    assert (rows["rule:name-name"]["won"], rows["rule:name-name"]["fired"]) == ({"makers": 1}, 1)
    assert (rows["rule:num-post"]["read"], rows["rule:num-post"]["net"]) == (0, 0)
    assert "makers: 1 of 1 answers" in capsys.readouterr().out


def test_a_row_counts_what_changes_without_its_rule() -> None:
    row = Row("rule:x")
    for base, before, without in (("a", True, False), ("a", True, True), ("a", False, True), ("b", True, False)):
        row.count(base, before=before, without=without)
    assert (row.won, row.lost, row.net, row.bases) == ({"a": 1, "b": 1}, {"a": 1}, 1, ["b"])


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("which rivers run through the state with the smallest area", "nested superlative"),
        ("what cities are in the biggest state", "nested superlative"),
        ("which state contains the highest mountain", "nested superlative"),
        ("how long is the longest river", "field of nested"),
        ("what is the population of the largest city in the smallest state", "field of nested"),
        ("what is the capital of the state with the most cities", "nested count"),
        ("how many rivers are in ohio", "aggregate"),
        ("which state has the fewest rivers", "aggregate"),
        ("what is the average population of states", "aggregate"),
        ("which states have no lakes", "negation"),
        ("states larger than texas", "comparison"),
        ("what are the populations of cities in ohio", "joined field"),
        ("what is the longest river in ohio", "superlative"),
        ("what are the major rivers in ohio", "vague word"),
        ("how many people live in ohio", "other"),
        ("what is the capital of ohio", "other"),
    ],
)
def test_questions_of_geography_have_kinds_by_their_words(text: str, kind: str) -> None:
    assert kind_of(text) == kind


def test_a_set_has_its_own_split_unless_another_is_wanted(tmp_path: Path) -> None:
    one = QuestionSet("makers", "makers", questions(tmp_path), "val")
    assert [row.id for row in one.examples()] == ["m1", "m2"]
    assert [row.id for row in one.examples("all")] == ["m1", "m2", "m3"]
    assert [row.id for row in QuestionSet("m", "m", one.path, "all", most=1).examples()] == ["m1"]
    with pytest.raises(NotHere, match="no question of the split test"):
        one.examples("test")
    [other] = question_sets([f"makers={one.path}"])
    assert (other.base, other.path, other.split) == ("makers", one.path, "all")
