"""Hashes of questions, which identify training questions in any file."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Sequence
from typing import Any

import orjson

from training.data.examples import Example

_APART = re.compile(r"[\W_]+")


def normalised(text: str) -> str:
    """Return the words of a question in lower case (NFKC) with one space between them, without punctuation."""
    return _APART.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def question_hash(example: Example) -> str:
    """Return BLAKE2b-128 over the normalised text and the answers, in hexadecimal.

    Id, split and slices do not count, so the same question in another file has the same hash.
    """
    said = normalised(example.text) or example.text
    return hashlib.blake2b(orjson.dumps([said, sorted(example.answers)]), digest_size=16).hexdigest()


def data_hash(examples: Sequence[Example]) -> str:
    """Return a hash of questions and answers, which does not depend on their order."""
    rows = sorted(orjson.dumps([example.id, example.text, sorted(example.answers)]) for example in examples)
    return hashlib.blake2b(b"\n".join(rows), digest_size=16).hexdigest()


def content_hash(examples: Sequence[Example]) -> str:
    """Return a hash of a whole file of questions: order, ids, splits, slices, texts, answers and grades."""
    content = hashlib.blake2b(digest_size=16)
    for one in examples:
        row: list[Any] = [one.id, one.text, one.answers, one.split, sorted(one.slices.items())]
        # Sets without grades keep the hashes that they had before there were any.
        row += [sorted(one.grades.items())] if one.grades else []
        content.update(orjson.dumps(row) + b"\n")
    return content.hexdigest()
