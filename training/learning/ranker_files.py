"""The files of a ranker's artifact: the trees, and the models of the answer's type, of all questions and of folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import lightgbm
import numpy as np
from numpy.typing import NDArray
from safetensors.numpy import save

from search.signals.answer_types import AnswerTypes


@dataclass(frozen=True, eq=False)
class Model:
    """The parts of a ranker: the model of the answer's type, and the trees."""

    types: AnswerTypes
    trees: Sequence[lightgbm.Booster]


def tensors_of(types: AnswerTypes) -> dict[str, NDArray[np.float32]]:
    """Return the weights of the model of the types."""
    return {"bags": types.bags, "vectors": types.vectors, "bias": types.bias}


def _of_fold(types: AnswerTypes, whole: AnswerTypes) -> bytes:
    """Return a fold's model of the types as a file in half precision, with the rows of the whole model's types.

    A type that the fold's questions never have as an answer gets a probability of practically 0.
    """
    rows = {name: at for at, name in enumerate(types.types)}
    tensors = {name: np.zeros_like(part) for name, part in tensors_of(whole).items()}
    tensors["bias"][:] = -60.0
    for at, name in enumerate(whole.types):
        if name in rows:
            for part, values in tensors_of(types).items():
                tensors[part][at] = values[rows[name]]
    return save({name: np.ascontiguousarray(part.astype(np.float16)) for name, part in tensors.items()})


def files_of(held_out: Sequence[Model], whole: Model) -> dict[str, bytes]:
    """Return the files of the trees, and the models of types of the folds."""
    files = {name: model.model_to_string().encode() for name, model in _named(whole, "trees")}
    for fold, part in enumerate(held_out):
        files[f"fold-{fold}.safetensors"] = _of_fold(part.types, whole.types)
        files |= {name: model.model_to_string().encode() for name, model in _named(part, f"fold-{fold}-trees")}
    return files


def _named(model: Model, prefix: str) -> Iterator[tuple[str, lightgbm.Booster]]:
    return ((f"{prefix}-{at}.txt", one) for at, one in enumerate(model.trees))


def served(encoder: str, names: Sequence[str], whole: Model, held_out: Sequence[Model]) -> dict[str, object]:
    """Return the description that `LightGbmRanker` reads together with the files."""
    return {
        "encoder": encoder,
        "signals": list(names),
        "types": list(whole.types.types),
        "trees": [name for name, _ in _named(whole, "trees")],
        "folds": [f"fold-{fold}.safetensors" for fold in range(len(held_out))],
        "trees_of_folds": [
            [name for name, _ in _named(part, f"fold-{fold}-trees")] for fold, part in enumerate(held_out)
        ],
    }
