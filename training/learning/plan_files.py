"""The content of a planner artifact: weights, the description that searches read, and the files of each fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import orjson
from numpy.typing import NDArray
from safetensors.numpy import save

from search.domain.graph import Schema
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.rules import RulePlanner
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.scoring.learned import path_key
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning.plan_fit import Fitted, Indices
from training.learning.plan_lists import PlanList, PlanLists
from training.learning.plan_quality import Floats, probabilities

MOST_FOLD_BYTES = 64 * 2**20
"""Largest total size, in bytes, of the scorers of all folds. An artifact keeps none of them above this size."""
KEPT_PLANS = 10
"""Number of plans of each training question whose cross-fitted probabilities are kept."""


def served(fitted: Fitted, paths: Sequence[Metapath], planner: RulePlanner) -> dict[str, object]:
    """Return the description that `LearnedPlanScorer` reads together with the weights."""
    schema = planner.schema
    return {
        "encoder": planner.encoder.name,
        "features": FEATURES,
        "hidden": fitted.net.size.hidden,
        "types": [kind.name for kind in schema.node_types],
        "relations": [relation.name for relation in schema.relations],
        "paths": [path_key(path, schema) for path in paths],
    }


def tensors(fitted: Fitted) -> dict[str, NDArray[np.float32]]:
    """Return the weights by name, including the vectors of the paths (`free`)."""
    weights = {name: tensor.numpy() for name, tensor in fitted.net.state_dict().items()}
    return {**weights, "free": fitted.free.numpy()}


def scorers_of_folds(fitted: Sequence[Fitted]) -> dict[str, bytes]:
    """Return the scorer fitted without each fold as a file in half precision.

    Returns an empty mapping when the files together exceed `MOST_FOLD_BYTES`.
    """
    files = {
        f"fold-{fold}.safetensors": save({name: tensor.astype(np.float16) for name, tensor in tensors(one).items()})
        for fold, one in enumerate(fitted)
    }
    return files if sum(map(len, files.values())) <= MOST_FOLD_BYTES else {}


def folds_of_hashes(examples: Sequence[Example], folds: Indices) -> bytes:
    """Return the content of the file FOLDS.

    A question that occurs in several folds is left out, because every scorer has learned from it.
    """
    mine: dict[str, set[int]] = {}
    for example, fold in zip(examples, folds.tolist(), strict=True):
        mine.setdefault(question_hash(example), set()).add(fold)
    return orjson.dumps({"hashes": {hashed: min(own) for hashed, own in mine.items() if len(own) == 1}})


def kept_lines(
    examples: Sequence[Example],
    lists: PlanLists,
    scored: Sequence[tuple[Floats, float]],
    folds: Indices,
    temperature: float,
    schema: Schema,
) -> Iterator[bytes]:
    """Yield one JSON line for each question: its best plans, scored by the scorer fitted without the question's fold.

    Later learners can read these lines.
    """
    keys = [path_key(path, schema) for path in lists.paths]
    for example, one, (sums, text), fold in zip(examples, lists.lists, scored, folds.tolist(), strict=True):
        shares = probabilities(sums, text, temperature)
        order = np.argsort(-sums, kind="stable")[:KEPT_PLANS]
        plans = [_plan(one, int(at), float(shares[at]), keys) for at in order]
        line = {
            "id": example.id,
            "hash": question_hash(example),
            "fold": fold,
            "no_hops": round(float(shares[-1]), 6),
            "plans": plans,
        }
        yield orjson.dumps(line) + b"\n"


def _plan(one: PlanList, at: int, share: float, keys: Sequence[str]) -> dict[str, object]:
    mine = one.branches[one.branches[:, 0] == at]
    return {
        "branches": [{"mention": list(one.spans[mention]), "path": keys[path]} for _, mention, path in mine.tolist()],
        "probability": round(share, 6),
        "f1": round(float(one.labels[at]), 6),
    }
