"""Tasks: questions to judge, each with a result or without one, read from pasted text, CSV, or JSON lines.

Nothing is guessed: a line that is no task gets a sentence with its number, and then no line is used.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.errors import Fault, InvalidRequest, nearest
from search.domain.unstorable import storable
from training.data.hashes import normalised

POINTER = "/arguments/tasks"
COLUMNS = ("question", "result", "id", "answers")
"""The columns of a CSV file and the keys of a line of JSON. `answers` are known ones, in CSV separated by `|`."""
MOST_LINES, LARGEST = 2_000, 2 << 20
LONGEST_ID = 2_048


@dataclass(frozen=True, slots=True)
class LabelTask:
    """A question with the id of the result to judge; without one, whatever a search finds is to be judged."""

    question: str
    result: str = ""
    identifier: str = ""
    answers: tuple[str, ...] = ()
    line: int = 0


def decoded(content: bytes) -> str:
    """Return the text of an uploaded file. Raises InvalidRequest if it is too large or not UTF-8."""
    if len(content) > LARGEST:
        raise InvalidRequest([Fault(POINTER, f"The file has more than {LARGEST >> 20} MB; divide it.")])
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        raise InvalidRequest([_fault(line, "it is not in UTF-8; save the file as UTF-8.")]) from error


def read_tasks(text: str) -> list[LabelTask]:
    """Return the tasks of a text in their order.

    Lines that begin with `{` are JSON objects; a first line with the column `question` makes it CSV, separated by
    commas, semicolons or tabs; else each line is a question, and ids of results may follow it after tabs. Raises
    InvalidRequest with a sentence for every line that cannot be used.
    """
    text = text.removeprefix("\ufeff")
    faults: list[Fault] = []
    found: list[LabelTask] = []
    seen: dict[tuple[str, str], int] = {}
    for task in _read(text, faults):
        key = (normalised(task.question) or task.question, task.result)
        if key in seen:
            faults.append(_fault(task.line, f"it says the same as line {seen[key]}; remove one of them."))
        seen.setdefault(key, task.line)
        found.append(task)
    if not found and not faults:
        faults.append(Fault(POINTER, "There is no question: write one on each line, or choose a file."))
    if len(found) > MOST_LINES:
        faults.append(Fault(POINTER, f"There are {len(found):,} questions and results; {MOST_LINES:,} are the most."))
    if faults:
        raise InvalidRequest(faults)
    return found


def _read(text: str, faults: list[Fault]) -> Iterator[LabelTask]:
    first = next((line for line in text.splitlines() if line.strip()), "")
    if first.lstrip().startswith("{"):
        return _json_lines(text, faults)
    separator = next((one for one in ",;\t" if "question" in _columns(first.split(one))), "")
    return _csv(text, separator, faults) if separator or _columns([first]) == ["question"] else _plain(text, faults)


def _columns(cells: Sequence[str]) -> list[str]:
    return [cell.strip().strip('"').casefold() for cell in cells]


def _plain(text: str, faults: list[Fault]) -> Iterator[LabelTask]:
    for number, line in enumerate(text.splitlines(), 1):
        question, *results = (part.strip() for part in line.split("\t"))
        if question or any(results):
            yield from _tasks(number, {"question": question, "result": [one for one in results if one]}, faults)


def _json_lines(text: str, faults: list[Fault]) -> Iterator[LabelTask]:
    # Only a line feed ends a line of JSON: texts may hold other separators.
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            faults.append(_fault(number, f"it is no JSON object ({error})."))
            continue
        if isinstance(row, dict):
            yield from _tasks(number, row, faults)
        else:
            faults.append(_fault(number, 'it is no JSON object, such as {"question": "…", "result": "…"}.'))


def _csv(text: str, separator: str, faults: list[Fault]) -> Iterator[LabelTask]:
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=separator or ",", strict=True)
    columns: list[str] = []
    begins = 1
    try:
        for row in rows:
            number, begins = begins, rows.line_num + 1
            if not any(cell.strip() for cell in row):
                continue
            if not columns:
                columns = _columns(row)
                for one in columns:
                    if one not in COLUMNS or columns.count(one) > 1:
                        faults.append(_unknown(number, "column", one))
            elif len(row) != len(columns):
                faults.append(_fault(number, f"it has {len(row)} cells, the first line has {len(columns)}."))
            else:
                cells: dict[str, Any] = {name: cell.strip() for name, cell in zip(columns, row, strict=True)}
                cells["answers"] = [one.strip() for one in cells.get("answers", "").split("|") if one.strip()]
                yield from _tasks(number, {name: cells[name] for name in COLUMNS if name in cells}, faults)
    except csv.Error as error:
        faults.append(_fault(begins, f"it is no CSV ({error}); is a quotation mark left open?"))


def _tasks(number: int, row: Mapping[str, Any], faults: list[Fault]) -> Iterator[LabelTask]:
    """Yield the tasks of a row: one for each of its results, or one without a result."""
    before = len(faults)
    faults += [_unknown(number, "key", name) for name in row if name not in COLUMNS]
    question, identifier = row.get("question"), row.get("id") or ""
    if not isinstance(question, str) or not question.strip():
        faults.append(_fault(number, "it has no question."))
    results, answers = _ids(number, "result", row, faults), _ids(number, "answers", row, faults)
    identifier = str(identifier) if type(identifier) is int else identifier
    if not isinstance(identifier, str) or len(identifier) > LONGEST_ID:
        faults.append(_fault(number, "its id is not a text."))
    elif not all(storable(one) for one in (str(question), identifier, *results, *answers)):
        faults.append(_fault(number, "it has a character that cannot be stored; remove it."))
    if len(faults) == before:
        for result in results or ("",):
            yield LabelTask(str(question).strip(), result, str(identifier), answers, number)


def _ids(number: int, name: str, row: Mapping[str, Any], faults: list[Fault]) -> tuple[str, ...]:
    """Return the ids of entities under a key: one text, or a list of texts."""
    given = row.get(name) or []
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, list) or not all(isinstance(one, str) and 0 < len(one) <= LONGEST_ID for one in listed):
        faults.append(_fault(number, f"{name} is the id of an entity, or a list of ids."))
        return ()
    return tuple(dict.fromkeys(listed))


def _unknown(number: int, kind: str, name: str) -> Fault:
    message = f"Line {number}: there is no {kind} {name[:80]!r} to read, or it is there twice; the {kind}s are: "
    return Fault(POINTER, f"{message}{', '.join(COLUMNS)}.", nearest(name, COLUMNS))


def _fault(number: int, message: str) -> Fault:
    return Fault(POINTER, f"Line {number}: {message}")
