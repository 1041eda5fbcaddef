"""What an artifact of the planner holds: the weights, what searches read beside them, and what is kept by fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import orjson
from numpy.typing import NDArray
from safetensors.numpy import save

from search.domain.graph import Schema
from search.stages.plan import Planner
from search.stages.plan.knowledge.shape import Metapath
from search.stages.plan.scoring.features import FEATURES
from search.stages.plan.scoring.learned import path_key
from training.data.examples import Example
from training.data.hashes import question_hash
from training.learning.plan_fit import Fitted, Indices
from training.learning.plan_lists import PlanList, PlanLists
from training.learning.plan_quality import Floats, probabilities

MOST_FOLD_BYTES = 64 * 2**20
"""Size of all scorers of folds together, above which an artifact keeps none of them."""
KEPT_PLANS = 10
"""Plans of a training question whose cross-fitted probabilities are kept."""


def served(fitted: Fitted, paths: Sequence[Metapath], planner: Planner) -> dict[str, object]:
    """Return what `LearnedPlanScorer` reads beside the weights."""
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
    """Return the weights by name, those of the paths among them."""
    weights = {name: tensor.numpy() for name, tensor in fitted.net.state_dict().items()}
    return {**weights, "free": fitted.free.numpy()}


def scorers_of_folds(fitted: Sequence[Fitted]) -> dict[str, bytes]:
    """Return what was learned without each fold as files, in half precision; nothing where they would be too large."""
    files = {
        f"fold-{fold}.safetensors": save({name: tensor.astype(np.float16) for name, tensor in tensors(one).items()})
        for fold, one in enumerate(fitted)
    }
    return files if sum(map(len, files.values())) <= MOST_FOLD_BYTES else {}


def folds_of_hashes(examples: Sequence[Example], folds: Indices) -> bytes:
    """Return the file FOLDS; a question that is in several folds is in none of them, for no scorer is without it."""
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
    """Yield a line a question: its best plans by what was learned without it, for what is learned later."""
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
