"""The learned scorer of plans (docs/planning.md, "Learned"). Training and searches use the same forward pass.

The encoder is not trained. The score of a plan is a sum of three terms: a scaled cosine between a linear map of the
question, with the mention masked, and a linear map of the plan's vector; a linear function of a few features; and a
small perceptron over the same features. The vector of a plan is a free parameter whose first value is the vector of the
plan's wording. So a plan that training never saw still has the vector of its wording. All parameters start with the
values of the scorer that has learned nothing, and weight decay keeps them near these values, so that a few dozen
questions change little.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import load_file
from torch import Tensor, nn
from torch.nn import functional

from search.artifact_files import LoadedArtifacts
from search.interfaces import PlanTable, Vectors

KIND = "planner"


@dataclass(frozen=True, slots=True)
class ScorerSize:
    """Size of a scorer: dimensions of the encoder, features of a plan, units of the hidden layer."""

    dimensions: int
    features: int
    hidden: int = 24


class PlanScorerNet(nn.Module):
    """The network that computes the scores of candidate plans.

    `start` holds the first weights of the features, of the cosine and of the plan without hops.
    """

    start: Tensor
    scale: Tensor
    temperature: Tensor

    def __init__(self, size: ScorerSize, start: Sequence[float] = (), cosine: float = 1.0, text: float = 0.0) -> None:
        super().__init__()
        self.size = size
        self.ask = nn.Linear(size.dimensions, size.dimensions, bias=False)
        self.tell = nn.Linear(size.dimensions, size.dimensions, bias=False)
        self.shift = nn.Linear(size.features, 1, bias=False)
        self.hidden = nn.Linear(size.features, size.hidden)
        self.out = nn.Linear(size.hidden, 1, bias=False)
        self.ground = nn.Parameter(torch.zeros(size.dimensions))
        self.warm = nn.Parameter(torch.zeros(2))
        self.register_buffer(
            "start", torch.tensor([*start, *[0.0] * (size.features - len(start))], dtype=torch.float32)
        )
        self.register_buffer("scale", torch.tensor([cosine, text], dtype=torch.float32))
        self.register_buffer("temperature", torch.ones(1))
        # Zero means the unlearned scorer: a map is the identity plus what has been learned.
        for layer in (self.ask, self.tell, self.shift, self.out):
            nn.init.zeros_(layer.weight)

    def map_paths(self, vectors: Tensor) -> Tensor:
        """Return the mapped vectors of plans, which questions are compared with: (plans, dimensions), unit length."""
        return functional.normalize(vectors + self.tell(vectors), dim=1)

    def forward(self, table: PlanTable, path_vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return the score of every plan, shape (plans,), and of each question's plan without hops, (questions,).

        `path_vectors` are the mapped vectors of the paths that the table's branches point to.
        """
        asked = torch.from_numpy(table.asked)
        owner = torch.from_numpy(table.owner)
        plan, mention, path = torch.from_numpy(table.branches).unbind(1)
        features = torch.from_numpy(table.features)
        question = torch.from_numpy(table.question)
        count = int(table.owner[-1]) + 1
        mapped = functional.normalize(asked + self.ask(asked), dim=1)
        cosines = _mean((mapped @ path_vectors.T)[mention, path], plan, len(features))
        # The cosine of unrelated texts differs between encoders, so only the part above the mean counts.
        cosines = cosines - _mean(cosines, question, count)[question]
        grounds = _mean(asked @ self.ground, owner, count)
        scale = self.scale * (1 + self.warm)
        said = features @ self.start + (self.shift(features) + self.out(torch.relu(self.hidden(features)))).squeeze(1)
        return (scale[0] * cosines + said) / self.temperature, (scale[1] + grounds) / self.temperature


class LearnedPlanScorer:
    """A scorer as `register_artifact` wrote it (interfaces.PlanScorer)."""

    def __init__(self, name: str, configuration: Mapping[str, Any], tensors: Mapping[str, NDArray[np.float32]]) -> None:
        """Load `config.json` and tensors. Raises KeyError, TypeError, ValueError or RuntimeError if they do not fit."""
        self.name = name
        self.encoder: str = configuration["encoder"]
        self.features: tuple[str, ...] = tuple(configuration["features"])
        self.types = frozenset(configuration["types"])
        self.relations = frozenset(configuration["relations"])
        self._places = {key: place for place, key in enumerate(configuration["paths"])}
        self._free = np.asarray(tensors["free"], dtype=np.float32)
        if self._free.ndim != 2 or len(self._free) != len(self._places):
            raise ValueError(f"{len(self._places)} paths have vectors of shape {self._free.shape}")
        if odd := next((key for key, tensor in tensors.items() if not np.isfinite(tensor).all()), None):
            raise ValueError(f"{odd} holds numbers that are not finite")
        size = ScorerSize(self._free.shape[1], len(self.features), configuration["hidden"])
        self._net = PlanScorerNet(size).eval()
        self._net.load_state_dict({k: torch.from_numpy(v) for k, v in tensors.items() if k != "free"})

    def vector(self, path: str) -> Vectors | None:
        """Return the free vector of a path by its key, shape (dimensions,); None if training never saw the path."""
        place = self._places.get(path)
        return None if place is None else self._free[place]

    def map_paths(self, vectors: Vectors) -> Vectors:
        """Return the mapped vectors of paths, shape (paths, dimensions); one call serves all questions."""
        with torch.inference_mode():
            return self._net.map_paths(torch.from_numpy(vectors)).numpy()

    def __call__(self, table: PlanTable, path_vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the scores of the table's plans, and of each question's plan without hops."""
        with torch.inference_mode():
            sums, texts = self._net(table, torch.from_numpy(path_vectors))
        return sums.numpy().astype(np.float64), texts.numpy().astype(np.float64)


class LoadedPlanScorers(LoadedArtifacts[LearnedPlanScorer]):
    """The learned scorers by artifact (interfaces.PlanScorers)."""

    kind, stage, what = KIND, "plan", "scorers"

    def made(self, artifact: str, configuration: Mapping[str, Any], weights: Path, fold: int) -> LearnedPlanScorer:
        """Return the scorer with these weights."""
        tensors = {name: tensor.astype(np.float32) for name, tensor in load_file(weights).items()}
        return LearnedPlanScorer(artifact, configuration, tensors)


def _mean(values: Tensor, groups: Tensor, count: int) -> Tensor:
    """Return the mean of the values of each group, shape (count,); 0 for an empty group."""
    sums = torch.zeros(count).index_add(0, groups, values)
    return sums / torch.zeros(count).index_add(0, groups, torch.ones_like(values)).clamp(min=1)
