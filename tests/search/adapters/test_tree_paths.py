"""Contributions read off the trees add up to LightGBM's scores, also where values are missing."""

from __future__ import annotations

import lightgbm
import numpy as np
import pytest
from numpy.typing import NDArray

from search.adapters.tree_paths import TreePaths


def fitted(data: NDArray[np.float32], labels: NDArray[np.int64], rounds: int = 15) -> lightgbm.Booster:
    how = {"objective": "lambdarank", "num_threads": 1, "verbose": -1, "min_data_in_leaf": 5, "max_bin": 63}
    groups = [20] * (len(data) // 20)
    return lightgbm.train(how, lightgbm.Dataset(data, labels, group=groups, params={"verbose": -1}), rounds)


def expected_score(model: lightgbm.Booster) -> float:
    """Return the sum of the expected scores at the roots, as LightGBM itself tells them."""
    return sum(tree["tree_structure"].get("internal_value", 0.0) for tree in model.dump_model()["tree_info"])


@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_contributions_and_the_expected_score_are_the_score(missing: float) -> None:
    chance = np.random.default_rng(1)
    data = chance.normal(size=(600, 4)).astype(np.float32)
    data[chance.random(data.shape) < missing] = np.nan
    labels = (np.nan_to_num(data[:, 0]) - np.nan_to_num(data[:, 2], nan=1.0) > 0.8).astype(np.int64)
    models = [fitted(data, labels), fitted(data[::-1].copy(), labels[::-1].copy())]
    paths = TreePaths.of([model.model_to_string() for model in models])
    unseen = chance.normal(size=(50, 4)).astype(np.float32)
    unseen[chance.random(unseen.shape) < 0.3] = np.nan
    found = paths.contributions(unseen)
    scores = np.sum([model.predict(unseen) for model in models], axis=0) - sum(map(expected_score, models))
    assert found.sum(axis=1).tolist() == pytest.approx(scores.tolist(), abs=1e-6)
    assert np.abs(found[:, 0]).mean() > np.abs(found[:, 1]).mean()


def test_one_split_gives_its_whole_change_to_its_signal() -> None:
    data = np.zeros((200, 2), dtype=np.float32)
    data[::2, 1] = 1.0
    model = fitted(data, (data[:, 1] > 0).astype(np.int64), rounds=1)
    found = TreePaths.of([model.model_to_string()]).contributions(data[:2])
    scores = np.asarray(model.predict(data[:2])) - expected_score(model)
    assert found[:, 0].tolist() == [0, 0]
    assert found[:, 1].tolist() == pytest.approx(scores.tolist())


def test_trees_without_a_split_add_nothing() -> None:
    data = np.zeros((100, 2), dtype=np.float32)
    model = fitted(data, np.tile([0, 1], 50), rounds=2)
    assert TreePaths.of([model.model_to_string()]).contributions(data[:3]).tolist() == [[0, 0]] * 3
