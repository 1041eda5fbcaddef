"""Example: a question with its answers. Files of questions are read with all their faults at once."""

from __future__ import annotations

import gzip
import json
import zlib
from codecs import BOM_UTF8
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

from search.domain.unstorable import HALVES, unstorable

KNOWN = ("id", "text", "answers", "split")
GRADES, HIGHEST = "grades", 1_000
FAULTS_SHOWN = 50
LONGEST_LINE, LARGEST_FILE = 32 << 20, 1 << 30
"""Largest line and largest unpacked file, in bytes."""
_TOO_LARGE = f"a line has at most {LONGEST_LINE >> 20} MB, and the file, unpacked, {LARGEST_FILE >> 20} MB."


class BadQuestions(ValueError):
    """A questions file that cannot be used; `faults` has a sentence for each wrong row, up to `FAULTS_SHOWN`."""

    def __init__(self, faults: list[str]) -> None:
        self.faults = faults
        super().__init__("\n".join(faults))


@dataclass(frozen=True, slots=True)
class Example:
    """A question with the ids of all its answers, its split, and the values by which reports group it (`slices`).

    `grades` are those of the nodes that people judged, answers or not; 0 is no answer. It is empty for a question that
    nobody judged: then its answers are all that is known.
    """

    id: str
    text: str
    answers: tuple[str, ...]
    split: str = ""
    slices: dict[str, str] = field(default_factory=dict)
    grades: dict[str, int] = field(default_factory=dict)

    @property
    def judged(self) -> frozenset[str]:
        """The nodes that were judged; empty if nobody judged the question."""
        return frozenset(self.grades).union(self.answers) if self.grades else frozenset()


def read_examples(path: Path, split: str | None = None, limit: int | None = None) -> list[Example]:
    """Read questions as `read_all` does, and return those that `select` keeps."""
    return select(read_all(path), path.name, split, limit)


def read_all(path: Path) -> list[Example]:
    """Read JSON lines, plain or gzip: `{"id", "text", "answers": [node ids], "split"}`; further keys become slices.

    `grades`, if it is there, maps the ids of judged nodes to whole numbers from 0, no answer.

    Raises BadQuestions if the file cannot be read, a row is not a question, an id occurs twice, or there is no
    question.
    """
    faults: list[str] = []
    examples: dict[str, Example] = {}
    try:
        for number, line in numbered_lines(path):
            example = _parse(line, f"{path.name}:{number}", faults)
            if example is None:
                continue
            if example.id in examples:
                faults.append(
                    f"{path.name}:{number}: the id {example.id!r} was used before; each question has its own."
                )
            examples[example.id] = example
    except (OSError, EOFError, zlib.error) as error:
        faults.append(f"{path}: cannot be read as UTF-8 text, plain or gzip: {error}")
    return usable(examples.values(), faults, f"{path.name} has no question; its splits are: none.")


def usable(examples: Collection[Example], faults: Sequence[str], empty: str) -> list[Example]:
    """Return the examples of a file. Raises BadQuestions with its faults, or with `empty` if it has no example."""
    if faults:
        raise BadQuestions(capped(faults))
    if not examples:
        raise BadQuestions([empty])
    return list(examples)


def capped(faults: Sequence[str]) -> list[str]:
    """Return the first `FAULTS_SHOWN` faults, and a line with the number of the others."""
    hidden = len(faults) - FAULTS_SHOWN
    return [*faults[:FAULTS_SHOWN], *([f"… and {hidden} more."] if hidden > 0 else [])]


def select(examples: Sequence[Example], name: str, split: str | None = None, limit: int | None = None) -> list[Example]:
    """Return the questions of a split (None: all), at most `limit` of them, chosen by `spread`.

    `name` is the file's name for the message. Raises BadQuestions if no question is left.
    """
    kept = [example for example in examples if split is None or example.split == split]
    if not kept:
        there = ", ".join(sorted({example.split for example in examples} - {""})) or "none"
        wanted = f" of split {split!r}" if split else ""
        raise BadQuestions([f"{name} has no question{wanted}; its splits are: {there}."])
    return spread(kept, limit)


def spread(examples: Sequence[Example], limit: int | None) -> list[Example]:
    """Return `limit` examples, evenly spaced over all, because the first ones of a file are often all of one kind."""
    if limit is None or limit >= len(examples):
        return list(examples)
    return [examples[place * len(examples) // limit] for place in range(limit)]


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a text file in UTF-8, plain or gzip, with their numbers; empty ones are left out.

    A byte order mark at the beginning and Windows line ends are accepted. Raises BadQuestions with the number of the
    line if a line is not UTF-8 or is too long.
    """
    for number, line in enumerate(decoded_lines(path), 1):
        if line.strip():
            yield number, line


def decoded_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file with their line ends, empty lines included, read as by `numbered_lines`."""
    with path.open("rb") as raw:
        start = raw.read(2)
    if start in (b"\xff\xfe", b"\xfe\xff"):
        raise BadQuestions([f"{path.name} cannot be read as UTF-8 text: it is UTF-16. Save it as UTF-8."])
    read = 0
    with gzip.open(path, "rb") if start == b"\x1f\x8b" else path.open("rb") as lines:
        for number in count(1):
            line = lines.readline(LONGEST_LINE + 1)
            read += len(line)
            if not line:
                return
            if len(line) > LONGEST_LINE or read > LARGEST_FILE:
                raise BadQuestions([f"{path.name}:{number}: {_TOO_LARGE}"])
            yield _decoded(line.removeprefix(BOM_UTF8) if number == 1 else line, f"{path.name}:{number}")


def _decoded(line: bytes, where: str) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        byte = line[error.start]
        guess = f", in Latin-1 {bytes([byte]).decode('latin-1')!r}" if byte >= 0xA0 else ""
        message = f"{where}: cannot be read as UTF-8 text: byte {error.start + 1} of the line is 0x{byte:02X}{guess}."
        raise BadQuestions([f"{message} Save the file as UTF-8."]) from error


def _parse(line: str, where: str, faults: list[str]) -> Example | None:
    try:
        row: Any = json.loads(line)
    except json.JSONDecodeError as error:
        faults.append(f"{where}: not JSON: {error.msg} at column {error.colno}.")
        return None
    if not isinstance(row, dict):
        faults.append(f"{where}: a question is an object with id, text and answers.")
        return None
    # NUL is replaced when a set is stored; half a character has no UTF-8, so not even its hash could be computed.
    before = len(faults)
    faults += [f"{where}: {fault.pointer}: {fault.message}" for fault in unstorable(row, wrong=HALVES)]
    for key in ("id", "text"):
        if not isinstance(row.get(key), str | int) or not str(row[key]).strip():
            faults.append(f"{where}: {key} must be a string that is not empty.")
    answers = row.get("answers")
    if not (isinstance(answers, list) and answers and all(isinstance(answer, str | int) for answer in answers)):
        faults.append(f"{where}: answers must be a list of node ids that is not empty.")
    grades = _grades(row, where, faults)
    if len(faults) > before or not isinstance(answers, list):
        return None
    slices = {
        key: str(value) for key, value in row.items() if key not in KNOWN and isinstance(value, str | int | float)
    }
    unique = tuple(dict.fromkeys(str(answer) for answer in answers))
    return Example(str(row["id"]), str(row["text"]), unique, str(row.get("split", "")), slices, grades)


def _grades(row: dict[str, Any], where: str, faults: list[str]) -> dict[str, int]:
    """Return the grades of a row. A value of this name that is not an object is a slice, as any other."""
    given = row.get(GRADES)
    if not isinstance(given, dict):
        return {}
    if not all(type(grade) is int and 0 <= grade <= HIGHEST for grade in given.values()):
        faults.append(f"{where}: grades must map node ids to whole numbers from 0 (no answer) to {HIGHEST:,}.")
        return {}
    return dict(given)
