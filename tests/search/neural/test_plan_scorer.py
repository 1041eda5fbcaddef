"""The sums of a trained planner by hand, and artifacts that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save_file

from search.domain.errors import StageError
from search.interfaces import PlanTable
from search.neural.plan_scorer import LearnedPlanScorer, LoadedPlanScorers, PlanScorerNet, ScorerSize, _mean

CONFIGURATION = {
    "kind": "planner", "format": 1, "encoder": "hash@1", "features": ["a", "b"], "hidden": 1, "types": ["film"],
    "relations": ["made"], "paths": ["p", "q"],
}  # fmt: skip
ONE, OTHER = [1.0, 0.0], [0.0, 1.0]


def tensors(**changed: list[Any]) -> dict[str, np.ndarray]:
    """Return weights that know nothing but the starting ones, with two paths of unrelated directions."""
    net = PlanScorerNet(ScorerSize(2, 2, 1), start=[3.0, 0.0], cosine=2.0, text=5.0)
    weights = {name: tensor.numpy().copy() for name, tensor in net.state_dict().items()}
    given = {name: np.array(value, dtype=np.float32) for name, value in changed.items()}
    return {**weights, "free": np.array([ONE, OTHER], dtype=np.float32), **given}


def table() -> PlanTable:
    """Return two plans of a first question with one mention, and a second question without any."""
    return PlanTable(
        features=np.array([[1, 0], [0, 1]], dtype=np.float32),
        question=np.array([0, 0]),
        asked=np.array([ONE, OTHER], dtype=np.float32),
        owner=np.array([0, 1]),
        branches=np.array([[0, 0, 0], [1, 0, 1]]),
    )


@pytest.mark.parametrize(
    ("changed", "plans", "texts"),
    [
        # Cosines 1 and 0 lie 0.5 above and below their mean, and count twice; the first feature counts 3.
        ({}, [2 * 0.5 + 3, -2 * 0.5], [5, 5]),
        ({"shift.weight": [[0, 1.5]]}, [4, -1 + 1.5], [5, 5]),
        # The perceptron: relu(2a - 1) · 10 is 10 of the first plan, 0 of the second.
        ({"hidden.weight": [[2, 0]], "hidden.bias": [-1], "out.weight": [[10]]}, [14, -1], [5, 5]),
        # What is asked is turned: identity plus this map leads the first direction to the second.
        ({"ask.weight": [[-1, 0], [1, 0]]}, [-2 * 0.5 + 3, 2 * 0.5], [5, 5]),
        ({"tell.weight": [[-1, 1], [1, -1]]}, [-2 * 0.5 + 3, 2 * 0.5], [5, 5]),
        ({"ground": [0.25, -2]}, [4, -1], [5.25, 3]),
        ({"warm": [1, -0.2]}, [2 * 2 * 0.5 + 3, -2], [4, 4]),
        ({"temperature": [2]}, [2, -0.5], [2.5, 2.5]),
    ],
)
def test_sums_are_worked_out_by_hand(changed: dict[str, list[Any]], plans: list[float], texts: list[float]) -> None:
    weights = tensors(**changed)
    scorer = LearnedPlanScorer("a", CONFIGURATION, weights)
    sums, grounds = scorer(table(), scorer.map_paths(weights["free"]))
    assert sums == pytest.approx(plans, abs=1e-5)
    assert grounds == pytest.approx(texts, abs=1e-5)


def test_a_join_is_as_close_as_its_branches_are_in_the_mean() -> None:
    joined = PlanTable(
        features=np.zeros((2, 2), dtype=np.float32), question=np.array([0, 0]),
        asked=np.array([ONE, OTHER], dtype=np.float32), owner=np.array([0, 0]),
        branches=np.array([[0, 0, 0], [0, 1, 0], [1, 0, 0]]),
    )  # fmt: skip
    scorer = LearnedPlanScorer("a", CONFIGURATION, tensors())
    # Cosines (1 + 0) / 2 and 1, their mean 0.75.
    assert scorer(joined, scorer.map_paths(tensors()["free"]))[0] == pytest.approx([2 * -0.25, 2 * 0.25])


def test_the_mean_of_a_group_without_values_is_0() -> None:
    means = _mean(torch.tensor([1.0, 3.0, 5.0]), torch.tensor([0, 0, 2]), 4)
    assert means.tolist() == [2.0, 0.0, 5.0, 0.0]


def test_a_path_that_was_never_seen_has_no_vector() -> None:
    scorer = LearnedPlanScorer("a", CONFIGURATION, tensors())
    assert scorer.vector("r") is None
    assert np.array_equal(scorer.vector("q"), OTHER)


def written(folder: Path, configuration: object = CONFIGURATION, **changed: list[Any]) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(configuration))
    save_file(tensors(**changed), folder / "model.safetensors")
    return folder


def test_an_artifact_is_read_once_and_kept(tmp_path: Path) -> None:
    written(tmp_path / "planner-1")
    scorers = LoadedPlanScorers(tmp_path)
    first = scorers.get("planner-1")
    assert (first.name, first.features, first.types) == ("planner-1", ("a", "b"), frozenset({"film"}))
    for file in (tmp_path / "planner-1").iterdir():
        file.unlink()
    assert scorers.get("planner-1") is first


def test_only_the_artifacts_used_last_are_kept(tmp_path: Path) -> None:
    for name in ("a1", "a2", "a3"):
        written(tmp_path / name)
    scorers = LoadedPlanScorers(tmp_path, most=2)
    first, second = scorers.get("a1"), scorers.get("a2")
    assert scorers.get("a1") is first
    scorers.get("a3")
    assert scorers.get("a1") is first
    assert scorers.get("a2") is not second


def without(key: str) -> dict[str, Any]:
    return {name: value for name, value in CONFIGURATION.items() if name != key}


@pytest.mark.parametrize(
    ("configuration", "changed", "sentence"),
    [
        ({**CONFIGURATION, "kind": "router"}, {}, "a1 is a router of format 1, not a planner of format 1"),
        ({**CONFIGURATION, "format": 2}, {}, "a1 is a planner of format 2, not a planner of format 1"),
        ([1, 2], {}, "the artifact a1 cannot be read"),
        (None, {}, "the artifact a1 cannot be read"),
        (without("kind"), {}, "the artifact a1 cannot be read"),
        (without("paths"), {}, "the artifact a1 cannot be read"),
        ({**CONFIGURATION, "features": 5}, {}, "the artifact a1 cannot be read"),
        ({**CONFIGURATION, "features": ["a"]}, {}, "the artifact a1 cannot be read"),
        ({**CONFIGURATION, "hidden": "many"}, {}, "the artifact a1 cannot be read"),
        ({**CONFIGURATION, "paths": [["p"], "q"]}, {}, "the artifact a1 cannot be read"),
        ({**CONFIGURATION, "paths": ["p", "q", "r"]}, {}, "3 paths have vectors of shape (2, 2)"),
        (CONFIGURATION, {"free": [1, 2]}, "2 paths have vectors of shape (2,)"),
        (CONFIGURATION, {"free": [ONE, [0, np.nan]]}, "free holds numbers that are not finite"),
        (CONFIGURATION, {"ask.weight": [[1]]}, "size mismatch"),
    ],
)
def test_an_artifact_that_does_not_fit_gets_a_sentence(
    tmp_path: Path, configuration: object, changed: dict[str, list[Any]], sentence: str
) -> None:
    written(tmp_path / "a1", configuration, **changed)
    with pytest.raises(StageError) as caught:
        LoadedPlanScorers(tmp_path).get("a1")
    assert sentence in caught.value.reason
    assert caught.value.permanent


@pytest.mark.parametrize("name", ["model.safetensors", "config.json"])
@pytest.mark.parametrize("bytes_left", [0, 1, 40])
def test_a_file_that_was_cut_gets_a_sentence(tmp_path: Path, name: str, bytes_left: int) -> None:
    file = written(tmp_path / "a1") / name
    file.write_bytes(file.read_bytes()[:bytes_left])
    with pytest.raises(StageError, match="the artifact a1 cannot be read"):
        LoadedPlanScorers(tmp_path).get("a1")


def test_missing_files_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="there is no artifact gone on this machine"):
        LoadedPlanScorers(tmp_path / "no folder").get("gone")
    (written(tmp_path / "half") / "model.safetensors").unlink()
    with pytest.raises(StageError, match="there is no artifact half on this machine"):
        LoadedPlanScorers(tmp_path).get("half")


@pytest.mark.parametrize("name", ["..", "../a1", "/etc", "a1/", "a\0b", "", ".new-a1", "A1", "a" * 5000, "a1\n"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    written(tmp_path / "a1")
    with pytest.raises(StageError, match="is not the name of an artifact"):
        LoadedPlanScorers(tmp_path / "a1").get(name)
