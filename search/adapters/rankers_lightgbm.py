"""Learned rankers with LightGBM: an artifact's trees, and the model of the answer's type.

The trees are text files in LightGBM's own format, which holds numbers only; like all files of artifacts they are
compared with their hashes before they are read. LightGBM is imported when the first ranker is loaded, so that no web
process loads it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import load_file

from search.adapters.tree_paths import TreePaths
from search.artifact_files import LoadedArtifacts
from search.domain.logistic import Logistic
from search.interfaces import Vectors
from search.signals.answer_types import BUCKETS, AnswerTypes
from search.signals.first_result import CALIBRATION, INPUTS

if TYPE_CHECKING:
    from lightgbm import Booster

KIND = "ranker"
STAGE = "rerank"


class LightGbmRanker:
    """A ranker as the learner wrote it: the mean of several models (interfaces.Ranker)."""

    def __init__(
        self,
        name: str,
        configuration: Mapping[str, Any],
        tensors: Mapping[str, NDArray[Any]],
        models: Sequence[Booster],
        calibration: Logistic | None = None,
    ) -> None:
        """Check that the parts fit each other. Raises KeyError, TypeError or ValueError if they do not."""
        self.name = name
        self.calibration = calibration
        self.encoder: str = configuration["encoder"]
        self.signals: tuple[str, ...] = tuple(configuration["signals"])
        self._models = tuple(models)
        self._paths = TreePaths.of([model.model_to_string() for model in models])
        bags, vectors, bias = (np.asarray(tensors[part], dtype=np.float32) for part in ("bags", "vectors", "bias"))
        types = tuple(configuration["types"])
        if bags.shape != (len(types), BUCKETS) or len(vectors) != len(types) or bias.shape != (len(types),):
            raise ValueError(f"the weights of {len(types)} types have the shapes {bags.shape}, {vectors.shape}")
        if not self._models or any(model.num_feature() != len(self.signals) for model in self._models):
            raise ValueError(f"the trees do not read {len(self.signals)} signals")
        if not all(np.isfinite(part).all() for part in (bags, vectors, bias)):
            raise ValueError("the weights of the types hold numbers that are not finite")
        self._types = AnswerTypes(types, bags, vectors, bias)

    def answer_types(self, text: str, vector: Vectors) -> Mapping[str, float]:
        """Return the probability of each type that training has seen as an answer."""
        return dict(zip(self._types.types, self._types.probabilities(text, vector).tolist(), strict=True))

    def scores(self, signals: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the mean of the models' scores."""
        several = np.array([model.predict(signals, num_threads=1) for model in self._models], dtype=np.float64)
        scores: NDArray[np.float64] = several.mean(axis=0)
        return scores

    def contributions(self, signals: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the mean of what the splits of the models' trees add (`TreePaths`)."""
        return self._paths.contributions(signals) / len(self._models)


class LoadedRankers(LoadedArtifacts[LightGbmRanker]):
    """The learned rankers by artifact (interfaces.Rankers)."""

    kind, stage, what = KIND, STAGE, "rankers"

    def made(self, artifact: str, configuration: Mapping[str, Any], weights: Path, fold: int) -> LightGbmRanker:
        """Return the ranker with these weights, and with the trees beside them."""
        trees = configuration["trees"] if fold < 0 else configuration["trees_of_folds"][fold]
        models = [_model(weights.parent / Path(name).name) for name in trees]
        calibration = _calibration(weights.parent / CALIBRATION, fold)
        return LightGbmRanker(artifact, configuration, load_file(weights), models, calibration)


def _calibration(file: Path, fold: int) -> Logistic | None:
    """Return the calibration of a file, or the one that was fitted without a fold; None without a file.

    Raises ValueError, KeyError, TypeError or IndexError if the file holds none.
    """
    if not file.exists():
        return None
    told = json.loads(file.read_bytes())
    return Logistic.read(told if fold < 0 else told["folds"][fold], INPUTS)


def _model(file: Path) -> Booster:
    """Return the trees of a file. Raises ValueError if it holds none."""
    import lightgbm

    try:
        return lightgbm.Booster(model_str=file.read_text())
    except lightgbm.basic.LightGBMError as error:
        raise ValueError(f"{file.name} holds no trees: {error}") from error
