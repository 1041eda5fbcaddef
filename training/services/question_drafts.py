"""Drafts: questions that somebody looks at before they are stored, kept as files for `GRASP_DRAFT_DAYS`.

A draft is a file and no row, so that what is never confirmed leaves nothing in the database. Only the account that made
a draft can read it.
"""

from __future__ import annotations

import gzip
import re
import secrets
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson
from django.conf import settings

from search.services.leftovers import changed, delete_leftovers, entries, remove
from training.data.examples import Example

MOST_DRAFTS = 200
"""Drafts that are kept of all accounts together; the oldest go first."""
_TOKEN = re.compile(r"[A-Za-z0-9_-]{22}")


@dataclass(frozen=True, slots=True)
class QuestionDraft:
    """Questions with where they are to be stored; `notes` are sentences about how they came to be."""

    knowledge_base: str
    name: str
    source: str
    examples: tuple[Example, ...]
    notes: tuple[str, ...] = ()


def keep_draft(draft: QuestionDraft, author: int) -> str:
    """Write a draft and return the token by which its author finds it. Drafts that are too old are deleted."""
    folder = _folder()
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    delete_old_drafts()
    for file in sorted(entries(folder), key=changed, reverse=True)[MOST_DRAFTS - 1 :]:
        remove(file)
    token = secrets.token_urlsafe(16)
    kept = asdict(replace(draft, examples=())) | {"author": author}
    lines = [orjson.dumps(kept), *(orjson.dumps(_row(one)) for one in draft.examples)]
    beside = folder / f"{token}.part"
    beside.write_bytes(gzip.compress(b"\n".join(lines), compresslevel=1))
    beside.replace(folder / f"{token}.gz")
    return token


def read_draft(token: str, author: int) -> QuestionDraft | None:
    """Return a draft of this account, None where there is none (any more)."""
    path = _folder() / f"{token}.gz"
    if not _TOKEN.fullmatch(token) or not path.is_file():
        return None
    first, *lines = gzip.decompress(path.read_bytes()).split(b"\n")
    kept: dict[str, Any] = orjson.loads(first)
    if kept.pop("author") != author:
        return None
    rows = (orjson.loads(line) for line in lines)
    examples = tuple(Example(row[0], row[1], tuple(row[2]), row[3], row[4], row[5]) for row in rows)
    return QuestionDraft(**kept | {"examples": examples, "notes": tuple(kept["notes"])})


def drop_draft(token: str) -> None:
    """Delete a draft that was stored or given up."""
    if _TOKEN.fullmatch(token):
        (_folder() / f"{token}.gz").unlink(missing_ok=True)


def _row(one: Example) -> list[Any]:
    return [_text(one.id), _text(one.text), [_text(a) for a in one.answers], _text(one.split),
            {_text(key): _text(value) for key, value in one.slices.items()},
            {_text(node): grade for node, grade in one.grades.items()}]  # fmt: skip


def _text(text: str) -> str:
    """Return text that UTF-8 can hold: halves of surrogate pairs are replaced, as in the database."""
    return text.encode("utf-8", "replace").decode("utf-8")


def delete_old_drafts() -> int:
    """Delete the drafts that are older than `GRASP_DRAFT_DAYS` days, and return their number."""
    return delete_leftovers(_folder(), settings.GRASP_DRAFT_DAYS, lambda _: ())


def _folder() -> Path:
    return Path(settings.GRASP_HOME) / "question-drafts"
