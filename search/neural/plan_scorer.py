"""Trained planners, read from artifacts: the weights of pairs of an element and a word, as JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from search.artifact_files import LoadedArtifacts
from search.domain.errors import StageError

KIND, FORM = "planner", "pairs"
"""Kind of the artifacts, and the form of their weights; earlier planners had tensors."""
WEIGHTS = "weights.json"
"""File of an artifact with its weights; those of each fold are in files of the same form."""


@dataclass(frozen=True, eq=False)
class PairWeights:
    """What a trained planner adds to the scores of meanings (interfaces.PlanScorer)."""

    name: str
    weights: Mapping[str, Mapping[str, float]]
    temperature: float = 1.0

    @classmethod
    def of(cls, name: str, written: Mapping[str, Any]) -> PairWeights:
        """Return the weights that `to_json` wrote. Raises KeyError, TypeError or ValueError if they do not fit."""
        weights = {str(element): {str(word): float(value) for word, value in dict(own).items()}
                   for element, own in written["weights"].items()}  # fmt: skip
        temperature = float(written["temperature"])
        if not all(math.isfinite(value) for own in weights.values() for value in own.values()):
            raise ValueError("its weights hold numbers that are not finite")
        if not 0 < temperature < math.inf:
            raise ValueError(f"its temperature is {temperature}")
        return cls(name, weights, temperature)

    def to_json(self) -> dict[str, Any]:
        """Return the weights as a JSON object."""
        return {"temperature": self.temperature, "weights": self.weights}


class LoadedPlanScorers(LoadedArtifacts[PairWeights]):
    """The trained planners by artifact (interfaces.PlanScorers)."""

    kind, stage, what = KIND, "plan", "scorers"

    def made(self, artifact: str, configuration: Mapping[str, Any], weights: Path, fold: int) -> PairWeights:
        """Return the trained planner with these weights."""
        return PairWeights.of(artifact, json.loads(weights.read_bytes()))

    def _weights(self, artifact: str, configuration: Mapping[str, Any], fold: int) -> str:
        if configuration.get("form") != FORM:
            reason = f"{artifact} was trained by an earlier version of the planner; train it again"
            raise StageError(self.stage, reason, permanent=True)
        return WEIGHTS if fold < 0 else super()._weights(artifact, configuration, fold)
