"""Trained planners in their artifacts: what is read, what is kept, and artifacts that cannot be read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from search.domain.errors import StageError
from search.neural.plan_scorer import LoadedPlanScorers, PairWeights

CONFIGURATION = {"kind": "planner", "format": 1, "form": "pairs", "folds": ["fold-0.json"]}
WEIGHTS = {"temperature": 1.5, "weights": {"type film": {"": 0.25, "movi": -1.0}}}


def written(folder: Path, configuration: object = CONFIGURATION, weights: object = WEIGHTS) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(configuration))
    (folder / "weights.json").write_text(json.dumps(weights))
    (folder / "fold-0.json").write_text(json.dumps({**WEIGHTS, "temperature": 2.0}))
    return folder


def test_what_is_written_is_read() -> None:
    one = PairWeights("a", {"type film": {"": 0.25}}, 1.5)
    again = PairWeights.of("a", json.loads(json.dumps(one.to_json())))
    assert (again.name, again.weights, again.temperature) == ("a", {"type film": {"": 0.25}}, 1.5)


def test_an_artifact_is_read_once_and_kept(tmp_path: Path) -> None:
    written(tmp_path / "planner-1")
    scorers = LoadedPlanScorers(tmp_path)
    first, fold = scorers.get("planner-1"), scorers.get("planner-1", 0)
    assert (first.name, first.weights, first.temperature) == ("planner-1", WEIGHTS["weights"], 1.5)
    assert fold.temperature == 2.0
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
    ("configuration", "weights", "sentence"),
    [
        ({**CONFIGURATION, "kind": "router"}, WEIGHTS, "a1 is a router of format 1, not a planner of format 1"),
        ({**CONFIGURATION, "format": 2}, WEIGHTS, "a1 is a planner of format 2, not a planner of format 1"),
        ([1, 2], WEIGHTS, "the trained part a1 cannot be read"),
        (None, WEIGHTS, "the trained part a1 cannot be read"),
        (without("kind"), WEIGHTS, "the trained part a1 cannot be read"),
        (
            without("form") | {"encoder": "hash@1", "features": []}, WEIGHTS,
            "a1 was trained by an earlier version of the planner; train it again",
        ),
        (CONFIGURATION, [], "the trained part a1 cannot be read"),
        (CONFIGURATION, {"temperature": 1.0}, "the trained part a1 cannot be read"),
        (CONFIGURATION, {"weights": {}}, "the trained part a1 cannot be read"),
        (CONFIGURATION, {**WEIGHTS, "weights": {"type film": {"": "much"}}}, "the trained part a1 cannot be read"),
        (CONFIGURATION, {**WEIGHTS, "weights": {"type film": 3}}, "the trained part a1 cannot be read"),
        (CONFIGURATION, {**WEIGHTS, "weights": {"type film": {"": float("nan")}}}, "numbers that are not finite"),
        (CONFIGURATION, {**WEIGHTS, "temperature": 0}, "its temperature is 0.0"),
        (CONFIGURATION, {**WEIGHTS, "temperature": float("inf")}, "its temperature is inf"),
    ],
)  # fmt: skip
def test_an_artifact_that_does_not_fit_gets_a_sentence(
    tmp_path: Path, configuration: object, weights: object, sentence: str
) -> None:
    written(tmp_path / "a1", configuration, weights)
    with pytest.raises(StageError) as caught:
        LoadedPlanScorers(tmp_path).get("a1")
    assert sentence in caught.value.reason
    assert caught.value.permanent


@pytest.mark.parametrize("name", ["weights.json", "config.json"])
@pytest.mark.parametrize("bytes_left", [0, 1, 40])
def test_a_file_that_was_cut_gets_a_sentence(tmp_path: Path, name: str, bytes_left: int) -> None:
    file = written(tmp_path / "a1") / name
    file.write_bytes(file.read_bytes()[:bytes_left])
    with pytest.raises(StageError, match="the trained part a1 cannot be read"):
        LoadedPlanScorers(tmp_path).get("a1")


def test_missing_files_get_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(StageError, match="there is no trained part gone on this machine"):
        LoadedPlanScorers(tmp_path / "no folder").get("gone")
    (written(tmp_path / "half") / "weights.json").unlink()
    with pytest.raises(StageError, match="there is no trained part half on this machine"):
        LoadedPlanScorers(tmp_path).get("half")


def test_a_fold_that_was_not_kept_is_said(tmp_path: Path) -> None:
    written(tmp_path / "a1")
    with pytest.raises(StageError, match="a1 has kept 1 scorers of folds, and number 7 is none of them"):
        LoadedPlanScorers(tmp_path).get("a1", 7)


@pytest.mark.parametrize("name", ["..", "../a1", "/etc", "a1/", "a\0b", "", ".new-a1", "A1", "a" * 5000, "a1\n"])
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    written(tmp_path / "a1")
    with pytest.raises(StageError, match="is not the name of a trained part"):
        LoadedPlanScorers(tmp_path / "a1").get(name)
