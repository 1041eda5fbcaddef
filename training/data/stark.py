"""Questions in STaRK's format: a CSV file with `id`, `query` and `answer_ids`, and a file for each split.

The layout is that of the STaRK benchmark's repository (Wu et al. 2024, "STaRK: Benchmarking LLM Retrieval on Textual
and Relational Knowledge Bases"): `stark_qa.csv`, and `split/train.index`, `split/val.index` and so on beside it, each
with one id a line.
"""

from __future__ import annotations

import csv
import json
import zlib
from collections.abc import Iterator
from pathlib import Path

from training.data.examples import BadQuestions, Example, decoded_lines, usable

COLUMNS = ("id", "query", "answer_ids")
LONGEST_CELL = 10_000_000
"""Most characters of a cell. Some questions have thousands of answers."""


def read_stark(path: Path) -> list[Example]:
    """Return the questions of a STaRK CSV file. Raises BadQuestions with every row that cannot be used.

    A column `split` gives the split of each question. Without it, the files `split/*.index` give it; the folder
    `split` is beside the CSV file or in the folder above.
    """
    faults: list[str] = []
    examples: dict[str, Example] = {}
    try:
        splits = _splits(path)
        for number, row in _rows(decoded_lines(path), path.name):
            example = _example(row, splits, f"{path.name}:{number}", faults)
            if example is not None and example.id in examples:
                faults.append(f"{path.name}:{number}: the id {example.id!r} was used before.")
            elif example is not None:
                examples[example.id] = example
    except (OSError, EOFError, UnicodeDecodeError, zlib.error, csv.Error) as error:
        faults.append(f"{path}: cannot be read as a CSV file: {error}")
    return usable(examples.values(), faults, f"{path.name} has no question.")


def _rows(file: Iterator[str], name: str) -> Iterator[tuple[int, dict[str, str | None]]]:
    csv.field_size_limit(LONGEST_CELL)
    reader = csv.DictReader(file)
    if missing := [column for column in COLUMNS if column not in (reader.fieldnames or ())]:
        raise BadQuestions([f"{name} lacks the columns {', '.join(missing)}; it takes {', '.join(COLUMNS)}."])
    for row in reader:
        yield reader.line_num, row


def _splits(path: Path) -> dict[str, str]:
    """Return id → split, read from the files in the folder `split`."""
    folders = [folder for folder in (path.parent / "split", path.parent.parent / "split") if folder.is_dir()]
    found: dict[str, str] = {}
    for file in sorted(folders[0].glob("*.index")) if folders else ():
        if "-" not in file.stem:
            found.update(dict.fromkeys(file.read_text(encoding="utf-8").split(), file.stem))
    return found


def _example(row: dict[str, str | None], splits: dict[str, str], where: str, faults: list[str]) -> Example | None:
    name, text = (row.get("id") or "").strip(), (row.get("query") or "").strip()
    answers = _answers(row.get("answer_ids") or "")
    if not name or not text:
        faults.append(f"{where}: id and query must not be empty.")
        return None
    if not answers:
        faults.append(f"{where}: answer_ids must be a list of node ids that is not empty, such as [1, 2].")
        return None
    return Example(name, text, answers, (row.get("split") or splits.get(name, "")).strip())


def _answers(cell: str) -> tuple[str, ...]:
    """Return the ids in a cell; empty if the cell contains no list of ids."""
    try:
        value = json.loads(cell)
    except (ValueError, RecursionError):
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str | int) for item in value):
        return ()
    return tuple(dict.fromkeys(str(item) for item in value))
