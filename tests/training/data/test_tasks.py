"""Lists of questions and results: what each format says, and a sentence with its line for whatever cannot be used."""

from __future__ import annotations

import json

import pytest

from search.domain.errors import InvalidRequest
from training.data.tasks import LabelTask, decoded, read_tasks


def said(text: str) -> list[str]:
    """Return the sentences about a text that cannot be used."""
    with pytest.raises(InvalidRequest) as raised:
        read_tasks(text)
    return [fault.message for fault in raised.value.faults]


def test_plain_lines_are_questions_with_results_behind_tabs() -> None:
    assert read_tasks("\ufeffWho made it?\r\n\n  Which films?\tfilm/1\tfilm/2\n") == [
        LabelTask("Who made it?", line=1),
        LabelTask("Which films?", "film/1", line=3), LabelTask("Which films?", "film/2", line=3),
    ]  # fmt: skip


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv_is_known_by_its_first_line_whatever_separates_its_cells(separator: str) -> None:
    rows = [["id", "Question", "result", "answers"], ["7", '"Who,\nwhen; and\twhy?"', "film/1", "film/1|film/2"],
            ["8", "Where?", "", ""]]  # fmt: skip
    text = "\n".join(separator.join(row) for row in rows)
    assert read_tasks(text) == [
        LabelTask("Who,\nwhen; and\twhy?", "film/1", "7", ("film/1", "film/2"), 2), LabelTask("Where?", "", "8", (), 4),
    ]  # fmt: skip


def test_a_column_of_questions_alone_is_csv_too() -> None:
    assert read_tasks("question\nWho?\n") == [LabelTask("Who?", line=2)]


def test_json_lines_have_one_result_or_several() -> None:
    rows = [{"question": "Who?", "result": ["a", "b"], "id": 3}, {"question": "Where?\u2028", "answers": ["c"]}]
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    assert read_tasks(text) == [
        LabelTask("Who?", "a", "3", (), 1), LabelTask("Who?", "b", "3", (), 1), LabelTask("Where?", "", "", ("c",), 2),
    ]  # fmt: skip


def test_every_bad_line_gets_a_sentence_with_its_number() -> None:
    lines = [
        '{"question": "Who?"}',
        '{"question": "  "}',
        '{"question": "x"',
        "[1]",
        '{"question": "y", "reslut": "z"}',
        '{"question": "y", "result": [1]}',
        '{"question": "WHO ?"}',
        '{"question": "a\\u0000b"}',
    ]
    faults = said("\n".join(lines))
    assert [one.split(":")[0] for one in faults] == [f"Line {number}" for number in (2, 3, 4, 5, 6, 7, 8)]
    for part, one in zip(("has no question", "no JSON", "no JSON object", "key 'reslut'", "result is the id",
                          "the same as line 1", "cannot be stored"), faults, strict=True):  # fmt: skip
        assert part in one


def test_faults_of_csv() -> None:
    assert said("question,reslut\nWho?,a\n")[0].startswith("Line 1: there is no column 'reslut'")
    assert said("question,result\nWho?\n") == ["Line 2: it has 1 cells, the first line has 2."]
    assert said('question,result\n"Who?,a\n')[0].startswith("Line 2: it is no CSV")
    assert said('question,result\n"a\nb",r\n,x\n') == ["Line 4: it has no question."]


def test_an_empty_text_and_a_text_that_is_too_long_are_refused() -> None:
    assert said(" \n\n") == ["There is no question: write one on each line, or choose a file."]
    assert said("\n".join(f"Who is {number}?" for number in range(2_001)))[0].startswith("There are 2,001 questions")


def test_a_file_in_another_encoding_names_its_first_line_that_is_wrong() -> None:
    assert decoded(b"\xef\xbb\xbfWho?") == "Who?"
    with pytest.raises(InvalidRequest, match="Line 2: it is not in UTF-8"):
        decoded("Who?\nWo wächst er?".encode("latin-1"))
    with pytest.raises(InvalidRequest, match="more than 2 MB"):
        decoded(b"a" * ((2 << 20) + 1))
