"""A learned ranker is read as it was written, and refused where it does not fit."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import lightgbm
import numpy as np
import pytest
from safetensors.numpy import save

from search.adapters.rankers_lightgbm import LoadedRankers
from search.artifact_files import manifest_of
from search.domain.errors import StageError
from search.domain.logistic import Logistic
from search.signals.answer_types import BUCKETS

SIGNALS = ["degree", "lists"]
DIMENSIONS = 4
DATA = np.random.default_rng(0).normal(size=(400, 2)).astype(np.float32)


def booster(seed: int) -> lightgbm.Booster:
    labels = (DATA[:, 0] + 0.3 * DATA[:, 1] > 1).astype(int)
    data = lightgbm.Dataset(DATA, labels, group=[20] * 20, params={"verbose": -1})
    how = {"objective": "lambdarank", "seed": seed, "num_threads": 1, "verbose": -1, "feature_fraction": 0.5}
    return lightgbm.train(how, data, 20)


BOOSTERS = [booster(seed) for seed in range(3)]


def weights() -> bytes:
    return save({
        "bags": np.zeros((2, BUCKETS), np.float32), "vectors": np.eye(2, DIMENSIONS, dtype=np.float32),
        "bias": np.zeros(2, np.float32),
    })  # fmt: skip


def written(folder: Path, files: Mapping[str, bytes] = MappingProxyType({}), **changed: Any) -> LoadedRankers:
    """Write the artifact `ranker-1` into a folder, and return what reads it."""
    configuration = {
        "kind": "ranker", "format": 1, "hashed": True, "encoder": "hash@1", "signals": SIGNALS,
        "types": ["film", "person"], "trees": ["trees-0.txt", "trees-1.txt"], "folds": ["fold-0.safetensors"],
        "trees_of_folds": [["fold-0-trees-0.txt"]],
    }  # fmt: skip
    names = ("trees-0.txt", "trees-1.txt", "fold-0-trees-0.txt")
    content = {name: one.model_to_string().encode() for name, one in zip(names, BOOSTERS, strict=True)}
    content |= {"model.safetensors": weights(), "fold-0.safetensors": weights()} | dict(files)
    content["config.json"] = json.dumps(configuration | changed).encode()
    artifact = folder / "ranker-1"
    shutil.rmtree(artifact, ignore_errors=True)
    artifact.mkdir()
    for name, one in {**content, "files.json": manifest_of(content)}.items():
        (artifact / name).write_bytes(one)
    return LoadedRankers(folder)


def test_a_score_is_the_mean_of_the_models(tmp_path: Path) -> None:
    ranker = written(tmp_path).get("ranker-1")
    expected = (np.asarray(BOOSTERS[0].predict(DATA)) + np.asarray(BOOSTERS[1].predict(DATA))) / 2
    assert ranker.scores(DATA).tolist() == pytest.approx(expected.tolist())
    assert ranker.signals == tuple(SIGNALS)
    gaps = expected - ranker.contributions(DATA).sum(axis=1)
    assert gaps.tolist() == pytest.approx([gaps[0]] * len(DATA)), "what is left is the same for all: the expected score"
    vector = np.array([1.0, 0, 0, 0], np.float32)
    found = ranker.answer_types("x", vector)
    assert found["film"] / found["person"] == pytest.approx(np.e)


def test_a_fold_has_trees_of_its_own_and_one_that_was_not_kept_is_said(tmp_path: Path) -> None:
    rankers = written(tmp_path)
    expected = np.asarray(BOOSTERS[2].predict(DATA))
    assert rankers.get("ranker-1", 0).scores(DATA).tolist() == pytest.approx(expected.tolist())
    with pytest.raises(StageError, match="ranker-1 has kept 1 rankers of folds, and number 1 is none of them"):
        rankers.get("ranker-1", 1)


def test_a_calibration_is_read_with_its_folds_and_an_artifact_without_one_has_none(tmp_path: Path) -> None:
    told = {"weights": {"share": 1.5}, "constant": 0.5}
    folds = [{"weights": {"margin": 2.0}, "constant": -1.0}]
    rankers = written(tmp_path, {"calibration.json": json.dumps({**told, "folds": folds}).encode()})
    assert rankers.get("ranker-1").calibration == Logistic({"share": 1.5}, 0.5)
    assert rankers.get("ranker-1", 0).calibration == Logistic({"margin": 2.0}, -1.0)
    assert written(tmp_path).get("ranker-1").calibration is None


@pytest.mark.parametrize(
    ("files", "changed", "why"),
    [
        ({"calibration.json": b"{}"}, {}, "a calibration has a number for its constant and for inputs among share"),
        ({"calibration.json": b'{"weights": {"luck": 1}, "constant": 0}'}, {}, "inputs among share, margin, plan"),
        ({}, {"kind": "planner"}, "ranker-1 is a planner of format 1, not a ranker of format 1"),
        ({}, {"signals": ["degree"]}, "the trees do not read 1 signals"),
        ({}, {"types": ["film"]}, "the weights of 1 types have the shapes"),
        ({"trees-0.txt": b"these are no trees"}, {}, "trees-0.txt holds no trees"),
        ({"model.safetensors": save({"bias": np.zeros(2)})}, {}, "cannot be read"),
        ({}, {"trees": ["trees-9.txt"]}, "cannot be read"),
        ({}, {"trees": ["../../secret.txt"]}, "cannot be read"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(
    tmp_path: Path, files: dict[str, bytes], changed: dict[str, Any], why: str
) -> None:
    with pytest.raises(StageError, match=why) as raised:
        written(tmp_path, files, **changed).get("ranker-1")
    assert raised.value.permanent


def test_trees_that_were_changed_are_refused(tmp_path: Path) -> None:
    rankers = written(tmp_path)
    file = tmp_path / "ranker-1" / "trees-0.txt"
    file.write_text(file.read_text().replace("leaf_value=", "leaf_value=9", 1))
    with pytest.raises(StageError, match=r"its file trees-0.txt was changed after it was registered"):
        rankers.get("ranker-1")
    with pytest.raises(StageError, match="there is no trained part ranker-2 on this machine"):
        rankers.get("ranker-2")
