"""read_upload: questions that somebody uploads or pastes, read as files are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from training.data.examples import BadQuestions, Example
from training.services.question_sets import read_questions

LARGEST_UPLOAD = 64 << 20
"""Largest file that a request may bring, in bytes; larger ones are for the command."""
FORMATS = {"jsonl": "questions.jsonl", "stark": "questions.csv", "text": "questions.tsv"}
"""Formats that can be chosen instead of guessed, each with the file name that is read so."""
PASTED = "pasted"
_KEPT = re.compile(r"[^\w.-]+")


@dataclass(frozen=True, slots=True)
class ReadUpload:
    """A file that was uploaded: its name and its content in pieces."""

    name: str
    pieces: Iterable[bytes]


def read_upload(
    *, file: ReadUpload | None = None, qrels: ReadUpload | None = None, pasted: str = "", form: str = ""
) -> list[Example]:
    """Return the questions of an uploaded file, with the qrels of TREC topics, or of a pasted text.

    `form` is one of `FORMATS`; without it, the file's name or the text's beginning decides. Raises BadQuestions with
    every line that cannot be used; nothing is kept of the upload.
    """
    if form and form not in FORMATS:
        raise BadQuestions([f"{form[:80]!r} is no format; there are: {', '.join(FORMATS)}."])
    if (file is None) == (not pasted.strip()):
        raise BadQuestions(["Give either a file or a pasted text with questions."])
    if file is None and qrels is not None:
        raise BadQuestions(["Qrels belong to a file of TREC topics."])
    with TemporaryDirectory(prefix="grasp-questions-") as folder:
        # STaRK's splits are looked for in the folders above a file; these two are empty.
        inside = Path(folder) / "upload" / "questions"
        inside.mkdir(parents=True)
        if file is None:
            content = pasted.encode("utf-8", "surrogatepass")
            file = ReadUpload(FORMATS[form or _looks_like(pasted)].replace("questions", PASTED), [content])
        elif form:
            file = ReadUpload(FORMATS[form].replace("questions", Path(_safe(file.name)).stem), file.pieces)
        path = _written(inside, file)
        return read_questions(path, _written(inside, qrels) if qrels is not None else None)


def _looks_like(text: str) -> str:
    """Return the format of a pasted text by its first line."""
    first = text.lstrip("\ufeff \t\r\n").partition("\n")[0]
    if first.startswith("{"):
        return "jsonl"
    return "stark" if {"id", "query", "answer_ids"} <= {part.strip() for part in first.split(",")} else "text"


def _written(folder: Path, upload: ReadUpload) -> Path:
    path = folder / _safe(upload.name)
    if path.exists():
        path = folder / f"qrels-{path.name}"
    size = 0
    with path.open("wb") as out:
        for piece in upload.pieces:
            size += len(piece)
            if size > LARGEST_UPLOAD:
                limit = f"{LARGEST_UPLOAD >> 20} MB"
                raise BadQuestions([f"{path.name} has more than {limit}; import it by `manage.py import_questions`."])
            out.write(piece)
    return path


def _safe(name: str) -> str:
    """Return the last part of a file name, with nothing in it that means something to a file system."""
    return _KEPT.sub("_", name.replace("\\", "/").rpartition("/")[2]).strip("._")[-100:] or "questions"
