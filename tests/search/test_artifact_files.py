"""The files of an artifact are compared with what was registered, and refused by name."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save

from search.artifact_files import (
    MANIFEST,
    RefusedArtifact,
    check_folder,
    content_hash,
    fault_of_name,
    manifest_of,
    open_artifact,
)
from search.domain.errors import StageError

FILES = {
    "config.json": b'{"kind": "planner", "format": 1, "hashed": true}',
    "model.safetensors": save({"a": np.arange(3, dtype=np.float32)}),
    "tokenizer/merges.txt": b"a b\n",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """An artifact as it was registered."""
    made = tmp_path / "planner-1"
    for name, content in {**FILES, MANIFEST: manifest_of(FILES)}.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_bytes(content)
    return made


def test_the_content_hash_is_that_of_the_hashes_of_all_files(folder: Path) -> None:
    listed = json.loads((folder / MANIFEST).read_bytes())
    assert listed["tokenizer/merges.txt"] == {"bytes": 4, "blake2b": blake2b(b"a b\n", digest_size=16).hexdigest()}
    assert check_folder(folder) == content_hash((folder / MANIFEST).read_bytes())
    assert open_artifact(folder.parent, "planner-1", "planner", "plan")["hashed"] is True


def changed(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("harm", "sentence"),
    [
        (lambda at: changed(at / "model.safetensors"), "its file model.safetensors was changed"),
        (lambda at: changed(at / "tokenizer/merges.txt"), "its file tokenizer/merges.txt was changed"),
        (lambda at: (at / "model.safetensors").unlink(), "its file model.safetensors is missing"),
        (lambda at: (at / MANIFEST).unlink(), "its file files.json is missing"),
        (lambda at: (at / MANIFEST).write_bytes(b"[1]"), "its file files.json cannot be read"),
        (lambda at: (at / "more.json").write_bytes(b"{}"), "its file more.json was not there"),
        (lambda at: (at / "more.pt").write_bytes(b""), "more.pt is a pickle or may contain one"),
        (lambda at: (at / "more.so").write_bytes(b""), "more.so is of an unknown kind"),
        (
            lambda at: (at / "model.safetensors").write_bytes(pickle.dumps([1])),
            "model.safetensors is not in the format safetensors, but a pickle",
        ),
    ],
)
def test_whatever_differs_is_refused_by_its_name(folder: Path, harm: Callable[[Path], object], sentence: str) -> None:
    harm(folder)
    with pytest.raises(RefusedArtifact, match=sentence.replace(".", r"\.")):
        check_folder(folder)
    with pytest.raises(StageError, match="the trained part planner-1 cannot be read") as refused:
        open_artifact(folder.parent, "planner-1", "planner", "plan")
    assert sentence in refused.value.reason


def test_files_that_fit_each_other_but_not_the_row_are_refused(folder: Path) -> None:
    other = {**FILES, "config.json": b'{"kind": "planner", "format": 1, "more": 1}'}
    (folder / "config.json").write_bytes(other["config.json"])
    registered = check_folder_hash(FILES)
    (folder / MANIFEST).write_bytes(manifest_of(other))
    assert check_folder(folder) != registered
    with pytest.raises(RefusedArtifact, match=f"and {registered} was registered"):
        check_folder(folder, registered)


def check_folder_hash(files: dict[str, bytes]) -> str:
    return content_hash(manifest_of(files))


def test_an_artifact_of_an_older_version_has_no_hashes_and_is_read(folder: Path) -> None:
    (folder / MANIFEST).unlink()
    (folder / "config.json").write_bytes(b'{"kind": "planner", "format": 1}')
    assert check_folder(folder) == ""


def test_an_artifact_of_another_kind_is_refused(folder: Path) -> None:
    with pytest.raises(StageError, match="planner-1 is a planner of format 1, not a ranker of format 1"):
        open_artifact(folder.parent, "planner-1", "ranker", "rerank")


@pytest.mark.parametrize("name", ["", "/a.json", "../a.json", "a/../b.json", "a\0.json", "a b.json", "a.json/"])
def test_no_name_leads_out_of_the_folder(name: str) -> None:
    assert fault_of_name(name) or name == "a.json/"
