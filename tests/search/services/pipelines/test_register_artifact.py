"""An artifact is there with its files and its row, or not at all."""

from __future__ import annotations

import json
import os
import pickle
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import DatabaseError
from django.db.models.signals import pre_save
from pytest_django.fixtures import Settings
from safetensors.numpy import load_file, save

from search.artifact_files import RefusedArtifact, check_folder
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
        "config.json", "files.json", "job.json", "kept.jsonl", "model.safetensors",
    ]  # fmt: skip
    loaded = load_file(artifact.directory / "model.safetensors")
    assert all(np.array_equal(loaded[name], tensor) for name, tensor in WEIGHTS.items())
    assert json.loads((artifact.directory / "config.json").read_bytes()) == {
        "kind": "planner", "format": 1, "hashed": True, "paths": ["a→b"],
    }  # fmt: skip
    made = json.loads((artifact.directory / "job.json").read_bytes())
    assert (made["artifact"], made["configuration"], made["metrics"]) == (artifact.id, {"seed": 1}, {"H@1": 97.0})
    assert (made["code_version"], made["data_hash"]) == (artifact.code_version, "00ff")
    assert check_folder(artifact.directory) == artifact.content_hash != ""


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
    with pytest.raises(OSError, match="File name too long"):
        registered(films, files={f"{'a/' * 100}{'b' * 190}{'/c' * 2000}.json": b""})
    assert list(home.iterdir()) == []
    assert not Artifact.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("weights.pkl", b"", "weights.pkl is a pickle or may contain one"),
        ("pytorch_model.bin", b"", "pytorch_model.bin is a pickle"),
        (
            "weights.safetensors",
            pickle.dumps({"a": 1}),
            "weights.safetensors is not in the format safetensors, but",
        ),
        ("trees.txt", b"PK\x03\x04 and more", "trees.txt is not text, but a pickle"),
        ("run.sh", b"", "run.sh is of an unknown kind"),
        ("../config.json", b"{}", "'../config.json' is no name of a file"),
    ],
)
def test_a_pickle_or_an_unknown_file_is_refused_by_its_name(
    films: KnowledgeBase, home: Path, name: str, content: bytes, sentence: str
) -> None:
    with pytest.raises(RefusedArtifact) as refused:
        registered(films, files={name: content})
    assert str(refused.value).startswith(sentence)
    assert not home.exists()
    assert not Artifact.objects.exists()


@pytest.mark.django_db
def test_an_adapter_lies_beside_the_rest_without_a_model_of_its_own(films: KnowledgeBase, home: Path) -> None:
    adapter = save({"lora_A": np.ones((1, 2), dtype=np.float32)})
    artifact = registered(
        films, tensors={}, files={"adapter_model.safetensors": adapter, "tokenizer/vocab.txt": b"a\n"}
    )
    assert sorted(path.relative_to(artifact.directory).as_posix() for path in artifact.directory.rglob("*.*")) == [
        "adapter_model.safetensors", "config.json", "files.json", "job.json", "tokenizer/vocab.txt",
    ]  # fmt: skip
    check_folder(artifact.directory, artifact.content_hash)


def test_what_a_killed_process_left_has_no_name_and_goes_after_a_while(tmp_path: Path) -> None:
    for name, age in ((".new-old", 7_200), (".new-young", 60)):
        (tmp_path / name).mkdir()
        (tmp_path / name / "model.safetensors").write_bytes(b"half")
        then = time.time() - age
        os.utime(tmp_path / name, (then, then))
    write_folder(tmp_path / "next", {"a": b"1"})
    assert sorted(path.name for path in tmp_path.iterdir()) == [".new-young", "next"]
