"""cross_fitting: each question that was learned from is asked of what was learned without it, where that was kept.

A planner is surer of questions that it has seen: weights chosen on them would trust the graph too much. An artifact
that keeps a scorer for each fold of its questions can still be asked about them honestly.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import orjson

from search.models import Artifact
from search.services.searches.pin import Pin
from training import wiring
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning.task import FOLDS
from training.services.learned_from import artifacts_of, questions_of


@dataclass(frozen=True)
class CrossFitted:
    """Which specification each question is asked with, in the order of the questions.

    `pins` holds None for a question that was learned from where no scorer is without it. `seen` says which questions
    were learned from.
    """

    pins: tuple[Pin | None, ...]
    seen: tuple[bool, ...]

    @property
    def count(self) -> int:
        """How many questions are asked of what was learned without them."""
        return sum(seen and pin is not None for seen, pin in zip(self.seen, self.pins, strict=True))

    @property
    def specifications(self) -> frozenset[str]:
        """The hashes of the specifications that are used."""
        return frozenset(pin.specification_hash for pin in self.pins if pin is not None)


def cross_fitted(pin: Pin, examples: Sequence[Example]) -> CrossFitted:
    """Return what to ask each question with: the pin itself, or with the folds of what has learned from the question.

    Every artifact of the specification that has learned from a question must have kept a scorer without it. An artifact
    that has kept no hashes cannot say what it has learned from, and is used as it is.
    """
    artifacts = [
        (artifact, frozenset(kept["hashes"]), folds_of(artifact))
        for artifact in artifacts_of(pin.specification)
        if (kept := questions_of(artifact)) is not None
    ]
    made: dict[tuple[tuple[str, int], ...], Pin] = {(): pin}
    pins: list[Pin | None] = []
    seen = []
    for example in examples:
        hashed = question_hash(example)
        mine = [(artifact, folds.get(hashed)) for artifact, hashes, folds in artifacts if hashed in hashes]
        seen.append(bool(mine))
        chosen = tuple((wiring.fold_option(artifact.kind), fold) for artifact, fold in mine if fold is not None)
        whole = len(chosen) == len(mine) and all(_takes(pin, option) for option, _ in chosen)
        if whole and chosen not in made:
            made[chosen] = _with(pin, dict(chosen))
        pins.append(made[chosen] if whole else None)
    return CrossFitted(tuple(pins), tuple(seen))


def folds_of(artifact: Artifact) -> dict[str, int]:
    """Return the fold of each question by its hash, of those folds whose scorers the artifact has kept."""
    try:
        folds: Mapping[str, int] = orjson.loads((artifact.directory / FOLDS).read_bytes())["hashes"]
        files = orjson.loads((artifact.directory / "config.json").read_bytes())["folds"]
        there = {fold for fold, name in enumerate(files) if (artifact.directory / name).is_file()}
        return {hashed: fold for hashed, fold in folds.items() if fold in there}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _takes(pin: Pin, option: str) -> bool:
    """Say whether a specification has an option."""
    stage, _, name = option.partition(".")
    stages: Mapping[str, Any] = pin.specification["stages"]
    return name in ((stages.get(stage) or {}).get("OPTIONS") or {})


def _with(pin: Pin, options: Mapping[str, int]) -> Pin:
    """Return a pin with options of its specification changed; all else is decided already."""
    specification = copy.deepcopy(dict(pin.specification))
    for option, value in options.items():
        stage, _, name = option.partition(".")
        specification["stages"][stage]["OPTIONS"][name] = value
    return replace(pin, specification=specification)
