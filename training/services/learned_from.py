"""learned_from: which questions the artifacts of a specification have learned from, by the hashes that they keep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from search.models import Artifact
from training.data.examples import Example
from training.data.hashes import question_hash

QUESTIONS_FILE = "questions.json"
"""A file of the artifact: `{"hashes": […], "splits": {…}, "allow_val": bool, "question_set": …}`."""


def learned_from(specification: Mapping[str, Any], examples: Sequence[Example]) -> dict[str, Any]:
    """Return what a report says of learning: `seen_in_training`, and the splits that each artifact learned from.

    `seen_in_training` counts the questions that an artifact of the specification has learned from; it is null where an
    artifact has kept no hashes, so that nobody can tell.
    """
    artifacts = list(artifacts_of(specification))
    kept = {artifact.id: questions_of(artifact) for artifact in artifacts}
    known = [one for one in kept.values() if one is not None]
    hashes = {hashed for one in known for hashed in one["hashes"]}
    seen = sum(question_hash(example) in hashes for example in examples)
    return {
        "seen_in_training": seen if len(known) == len(kept) else None,
        "trained": {
            name: {"splits": one["splits"], "allow_val": one["allow_val"]} if one is not None else None
            for name, one in kept.items()
        },
    }


def seen_by(specification: Mapping[str, Any]) -> frozenset[str]:
    """Return the hashes of all questions that artifacts of a specification have learned from."""
    kept = [questions_of(artifact) for artifact in artifacts_of(specification)]
    return frozenset(hashed for one in kept if one is not None for hashed in one["hashes"])


def artifacts_of(specification: Mapping[str, Any]) -> list[Artifact]:
    """Return the artifacts that options of a specification name, of whatever stage."""
    texts = {text for text in _texts(specification.get("stages", {})) if text and len(text) <= 100}
    return list(Artifact.objects.filter(pk__in=texts).order_by("pk"))


def questions_of(artifact: Artifact) -> dict[str, Any] | None:
    """Return what an artifact keeps of the questions that it learned; None where it keeps nothing that can be read."""
    try:
        kept = orjson.loads((artifact.directory / QUESTIONS_FILE).read_bytes())
        return {"hashes": kept["hashes"], "splits": kept["splits"], "allow_val": kept["allow_val"]}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for item in value.values():
            yield from _texts(item)
    elif isinstance(value, list | tuple):
        for item in value:
            yield from _texts(item)
