"""An artifact is there with its files and its row, or not at all."""

from __future__ import annotations

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import DatabaseError
from django.db.models.signals import pre_save
from pytest_django.fixtures import Settings
from safetensors.numpy import load_file

from search.models import Artifact, KnowledgeBase
from search.services.pipelines.register_artifact import register_artifact, write_folder

WEIGHTS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3).T, "b": np.zeros((0, 4), dtype=np.float32)}


@pytest.fixture
def home(settings: Settings, tmp_path: Path) -> Path:
    settings.GRASP_HOME = tmp_path
    return tmp_path / "artifacts"


def registered(base: KnowledgeBase, **changed: Any) -> Artifact:
    given: dict[str, Any] = {
        "knowledge_base": base, "kind": "planner", "tensors": WEIGHTS, "configuration": {"seed": 1},
        "served": {"paths": ["a→b"]}, "metrics": {"H@1": 97.0}, "data_hash": "00ff", "files": {"kept.jsonl": b"{}\n"},
    }  # fmt: skip
    return register_artifact(**{**given, **changed})


@pytest.mark.django_db
def test_everything_comes_back_as_it_was_given(films: KnowledgeBase, home: Path) -> None:
    artifact = Artifact.objects.get(pk=registered(films).pk)
    assert artifact.id.startswith("planner-")
    assert artifact.directory == home / artifact.id
    assert (artifact.knowledge_base, artifact.configuration, artifact.metrics) == (films, {"seed": 1}, {"H@1": 97.0})
    assert (artifact.data_hash, bool(artifact.code_version)) == ("00ff", True)
    assert sorted(file.name for file in artifact.directory.iterdir()) == [
        "config.json", "kept.jsonl", "model.safetensors",
    ]  # fmt: skip
    loaded = load_file(artifact.directory / "model.safetensors")
    assert all(np.array_equal(loaded[name], tensor) for name, tensor in WEIGHTS.items())
    assert json.loads((artifact.directory / "config.json").read_bytes()) == {
        "kind": "planner", "format": 1, "paths": ["a→b"],
    }  # fmt: skip


@pytest.mark.django_db
def test_two_artifacts_never_share_a_name(films: KnowledgeBase, home: Path) -> None:
    assert registered(films).id != registered(films).id
    assert len(list(home.iterdir())) == 2


@pytest.mark.django_db
def test_where_the_row_is_not_taken_there_are_no_files_either(films: KnowledgeBase, home: Path) -> None:
    def refuse(**_: Any) -> None:
        raise DatabaseError("the disk of Postgres is full")

    pre_save.connect(refuse, sender=Artifact)
    try:
        with pytest.raises(DatabaseError, match="is full"):
            registered(films)
    finally:
        pre_save.disconnect(refuse, sender=Artifact)
    assert list(home.iterdir()) == []
    assert not Artifact.objects.exists()


@pytest.mark.django_db
def test_where_a_file_cannot_be_written_there_is_no_row_either(films: KnowledgeBase, home: Path) -> None:
    with pytest.raises(OSError, match="No such file or directory"):
        registered(films, files={"no folder/kept.jsonl": b""})
    assert list(home.iterdir()) == []
    assert not Artifact.objects.exists()


def test_what_a_killed_process_left_has_no_name_and_goes_after_a_while(tmp_path: Path) -> None:
    for name, age in ((".new-old", 7_200), (".new-young", 60)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"half")
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    write_folder(tmp_path / "next", {"a": b"1"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".new-young", "next"]
