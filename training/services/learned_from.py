"""learned_from: the hashes of the questions that the parts of a specification were learned from or chosen on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import orjson

from search.models import Artifact
from search.neural.encoder_names import is_trained, parts
from search.services.searches.pin import Pin
from training.data.examples import Example
from training.data.hashes import question_hash
from training.models import ChosenOptions

QUESTIONS_FILE = "questions.json"
"""Name of the artifact's file about its training questions.

Its content is `{"hashes": […], "splits": {…}, "allow_val": bool, "question_set": …}`."""


def learned_from(pin: Pin, examples: Sequence[Example]) -> dict[str, Any]:
    """Return a report's part about training questions: `seen_in_training`, `seen_by` and `trained`.

    `seen_in_training` counts the questions that an artifact in use, or the release's encoder, has learned from, or that
    the fusion was tuned on. `seen_by` counts them for each kind of artifact and for `fusion`. `trained` holds the
    splits of each artifact. A count is null when an artifact has kept no hashes, because the number is then unknown.
    """
    artifacts = artifacts_of(pin)
    kept = {artifact.id: questions_of(artifact) for artifact in artifacts}
    hashes: dict[str, set[str] | None] = {}
    for artifact in artifacts:
        one, known = kept[artifact.id], hashes.get(artifact.kind, set())
        hashes[artifact.kind] = None if one is None or known is None else known | set(one["hashes"])
    for part, chosen_on in _chosen_on(pin).items():
        hashes[part] = chosen_on | (hashes.get(part) or set())
    asked = [question_hash(example) for example in examples]
    everything = set().union(*(known for known in hashes.values() if known))
    return {
        "seen_in_training": None if None in hashes.values() else sum(hashed in everything for hashed in asked),
        "seen_by": {
            part: None if known is None else sum(hashed in known for hashed in asked) for part, known in hashes.items()
        },
        "trained": {
            name: {"splits": one["splits"], "allow_val": one["allow_val"]} if one is not None else None
            for name, one in kept.items()
        },
    }


def _chosen_on(pin: Pin) -> dict[str, set[str]]:
    """Return, by part, the hashes of the questions that the specification's options were chosen on."""
    rows = ChosenOptions.objects.filter(
        pipeline_version__knowledge_base=pin.release.knowledge_base, pipeline_version__pipeline=pin.pipeline
    )
    found: dict[str, set[str]] = {}
    for row in rows:
        if all(_option(pin.specification, name) == value for name, value in row.options.items()):
            found.setdefault(row.part, set()).update(row.hashes)
    return found


def _option(specification: Mapping[str, Any], name: str) -> Any:
    """Return the value of an option such as `fuse.k`, as a JSON value; None when the specification does not have it."""
    stage, _, option = name.partition(".")
    value = ((specification["stages"].get(stage) or {}).get("OPTIONS") or {}).get(option)
    return list(value) if isinstance(value, tuple) else value


def artifacts_of(pin: Pin) -> list[Artifact]:
    """Return the artifacts that a search uses: those that any stage names, and the release's encoder if trained."""
    texts = {text for text in _texts(pin.specification.get("stages", {})) if text and len(text) <= 100}
    vector_set = pin.release.vector_set
    if vector_set is not None and is_trained(vector_set.encoder):
        texts.add(parts(vector_set.encoder)[0])
    return list(Artifact.objects.filter(pk__in=texts).order_by("pk"))


def questions_of(artifact: Artifact) -> dict[str, Any] | None:
    """Return the hashes and splits of an artifact's training questions; None when its file cannot be read."""
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
