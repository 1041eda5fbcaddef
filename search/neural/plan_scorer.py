"""The learned scorer of plans (docs/planning.md, "Learned"): one forward pass that trains and serves.

The encoder stays as it is. A plan's sum is a scaled cosine between a linear map of the question, a mention masked, and
a linear map of the plan's vector, plus what a few features say: linearly, and through a small perceptron. A plan's
vector is a free parameter that starts as the vector of its wording, so a plan that was never seen still has its
wording. Everything starts where the scorer that learned nothing stands, and is held near it by weight decay: with a few
dozen questions little moves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file
from torch import Tensor, nn
from torch.nn import functional

from search.domain.errors import StageError
from search.interfaces import PlanTable, Vectors

KIND = "planner"
READABLE_FORMAT = 1
"""Of the artifact's files; another one cannot be read by this code."""
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")


@dataclass(frozen=True, slots=True)
class ScorerSize:
    """Shape of a scorer: dimensions of the encoder, features a plan, units of the perceptron's hidden layer."""

    dimensions: int
    features: int
    hidden: int = 24


class PlanScorerNet(nn.Module):
    """Sums of candidate plans.

    `start` holds what each feature, the cosine and the plan without hops count for before anything is learned.
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
        # Zero is where the unlearned scorer stands: maps are the identity plus what is learned.
        for layer in (self.ask, self.tell, self.shift, self.out):
            nn.init.zeros_(layer.weight)

    def map_paths(self, vectors: Tensor) -> Tensor:
        """Return plans' vectors as questions are held against them, shape (plans, dimensions), of unit length."""
        return functional.normalize(vectors + self.tell(vectors), dim=1)

    def forward(self, table: PlanTable, path_vectors: Tensor) -> tuple[Tensor, Tensor]:
        """Return the sum of every plan, shape (plans,), and of each question's plan without hops, (questions,).

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
        # Where cosines of unrelated texts lie differs from encoder to encoder: only what is above the mean counts.
        cosines = cosines - _mean(cosines, question, count)[question]
        grounds = _mean(asked @ self.ground, owner, count)
        scale = self.scale * (1 + self.warm)
        said = features @ self.start + (self.shift(features) + self.out(torch.relu(self.hidden(features)))).squeeze(1)
        return (scale[0] * cosines + said) / self.temperature, (scale[1] + grounds) / self.temperature


class LearnedPlanScorer:
    """A scorer as `register_artifact` wrote it (interfaces.PlanScorer)."""

    def __init__(self, name: str, configuration: Mapping[str, Any], tensors: Mapping[str, NDArray[np.float32]]) -> None:
        """Take `config.json` and tensors. Raises KeyError, TypeError, ValueError, RuntimeError: they do not fit."""
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
        """Return the free vector of a path by its key, shape (dimensions,); None where it was never seen."""
        place = self._places.get(path)
        return None if place is None else self._free[place]

    def map_paths(self, vectors: Vectors) -> Vectors:
        """Map vectors of paths, shape (paths, dimensions), once for all questions."""
        with torch.inference_mode():
            return self._net.map_paths(torch.from_numpy(vectors)).numpy()

    def __call__(self, table: PlanTable, path_vectors: Vectors) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the sums of the table's plans, and of each question's plan without hops."""
        with torch.inference_mode():
            sums, texts = self._net(table, torch.from_numpy(path_vectors))
        return sums.numpy().astype(np.float64), texts.numpy().astype(np.float64)


class LoadedPlanScorers:
    """The learned scorers under `directory`, by artifact; the `most` used last are kept (interfaces.PlanScorers).

    Artifacts never change, so a version of a pipeline that names another is all that it takes to use another.
    """

    def __init__(self, directory: Path | str, most: int = 8) -> None:
        self._directory = Path(directory)
        self._kept = lru_cache(maxsize=most)(self._read)
        self._lock = Lock()

    def get(self, artifact: str) -> LearnedPlanScorer:
        """Return the scorer of an artifact. Raises StageError when there is none that this code can read."""
        # Several searches that name the same new one read it once.
        with self._lock:
            return self._kept(artifact)

    def _read(self, artifact: str) -> LearnedPlanScorer:
        if not _ID.fullmatch(artifact):
            raise StageError("plan", f"{artifact[:80]!r} is not the name of an artifact", permanent=True)
        folder = self._directory / artifact
        try:
            configuration = json.loads((folder / "config.json").read_bytes())
            if configuration["kind"] != KIND or configuration["format"] != READABLE_FORMAT:
                kind, version = configuration["kind"], configuration["format"]
                reason = f"{artifact} is a {kind} of format {version}, not a planner of format {READABLE_FORMAT}"
                raise StageError("plan", reason, permanent=True)
            return LearnedPlanScorer(artifact, configuration, load_file(folder / "model.safetensors"))
        except FileNotFoundError as error:
            raise StageError("plan", f"there is no artifact {artifact} on this machine", permanent=True) from error
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            raise StageError("plan", f"the artifact {artifact} cannot be read ({error})", permanent=True) from error


def _mean(values: Tensor, groups: Tensor, count: int) -> Tensor:
    """Return the mean of the values of each group, shape (count,); 0 of a group without any."""
    sums = torch.zeros(count).index_add(0, groups, values)
    return sums / torch.zeros(count).index_add(0, groups, torch.ones_like(values)).clamp(min=1)
