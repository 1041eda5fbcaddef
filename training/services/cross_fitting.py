"""cross_fitting: search each training question with a scorer fitted without it, if the artifact has kept one.

A planner is more confident on questions that it has learned from. Weights chosen on them would trust the graph too
much. If an artifact keeps a scorer for each fold of its questions, these questions can still be measured without bias.
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
    """The specification that each question is searched with, in the order of the questions.

    `pins` holds None for a training question when no scorer was fitted without it. `seen` says for each question
    whether an artifact has learned from it.
    """

    pins: tuple[Pin | None, ...]
    seen: tuple[bool, ...]

    @property
    def count(self) -> int:
        """The number of training questions that are searched with scorers fitted without them."""
        return sum(seen and pin is not None for seen, pin in zip(self.seen, self.pins, strict=True))

    @property
    def specifications(self) -> frozenset[str]:
        """The hashes of the specifications that the searches use."""
        return frozenset(pin.specification_hash for pin in self.pins if pin is not None)


def cross_fitted(pin: Pin, examples: Sequence[Example]) -> CrossFitted:
    """Return the pin for each question: the given one, or a copy with the folds of the artifacts that have seen it.

    A question has no pin if an artifact in use has learned from it and has kept no scorer without it. That holds for a
    trained encoder of the release, too: there are no vectors that it computed without a part of its questions. The
    questions of an artifact without hashes are unknown; it is used unchanged.
    """
    artifacts = [
        (artifact, frozenset(kept["hashes"]), folds_of(artifact))
        for artifact in artifacts_of(pin)
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
    """Return the fold of each question by its hash, only for folds whose scorers the artifact has kept."""
    try:
        folds: Mapping[str, int] = orjson.loads((artifact.directory / FOLDS).read_bytes())["hashes"]
        files = orjson.loads((artifact.directory / "config.json").read_bytes())["folds"]
        there = {fold for fold, name in enumerate(files) if (artifact.directory / name).is_file()}
        return {hashed: fold for hashed, fold in folds.items() if fold in there}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}


def _takes(pin: Pin, option: str) -> bool:
    """Return whether the pin's specification has an option."""
    stage, _, name = option.partition(".")
    stages: Mapping[str, Any] = pin.specification["stages"]
    return name in ((stages.get(stage) or {}).get("OPTIONS") or {})


def _with(pin: Pin, options: Mapping[str, int]) -> Pin:
    """Return a copy of a pin whose specification has these options; everything else is the same."""
    specification = copy.deepcopy(dict(pin.specification))
    for option, value in options.items():
        stage, _, name = option.partition(".")
        specification["stages"][stage]["OPTIONS"][name] = value
    return replace(pin, specification=specification)
