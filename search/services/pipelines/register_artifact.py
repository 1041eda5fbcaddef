"""register_artifact: stores weights as an artifact: its files and its row, all or nothing."""

from __future__ import annotations

import os
import shutil
import time
import uuid
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from django.db import transaction
from numpy.typing import NDArray
from safetensors.numpy import save

from search.artifact_files import (
    CONFIGURATION,
    FORMAT,
    HASHED,
    JOB,
    MANIFEST,
    WEIGHTS,
    check_files,
    content_hash,
    manifest_of,
)
from search.models import Artifact, KnowledgeBase
from search.services.code_version import code_version
from search.services.index_store import send_new

_UNFINISHED = ".new-"
_STALE = 3600.0
"""Age in seconds from which an unfinished folder is assumed to belong to a killed process."""


def register_artifact(
    *,
    knowledge_base: KnowledgeBase,
    kind: str,
    tensors: Mapping[str, NDArray[Any]],
    configuration: Mapping[str, Any],
    served: Mapping[str, Any],
    metrics: Mapping[str, Any],
    data_hash: str,
    files: Mapping[str, bytes] | None = None,
    artifact_id: str = "",
    job: Mapping[str, Any] | None = None,
) -> Artifact:
    """Write weights and their accompanying files under `GRASP_HOME/artifacts`, and return the artifact's row.

    `served` is the configuration that the code which loads the weights needs: it is written to `config.json`, together
    with kind and format. `configuration`, `metrics` and `data_hash` record how the weights were made; they are written
    to `job.json`, together with `job`. `files` are stored in the same folder by name; a name may hold a folder's name.
    There is no `model.safetensors` without tensors. `files.json` holds a hash of each file (`search.artifact_files`).

    The folder is renamed to its final name when it is complete; the row follows. A process that is killed before leaves
    only an unfinished folder. One that is killed between the two leaves a folder without a row: whoever chose
    `artifact_id` with `new_artifact_id` can remove it with `discard_artifact`. Raises RefusedArtifact for a pickle or a
    file of an unknown kind, OSError if the disk fails.
    """
    artifact = Artifact(
        id=artifact_id or new_artifact_id(kind), kind=kind, knowledge_base=knowledge_base,
        configuration=dict(configuration), metrics=dict(metrics), data_hash=data_hash, code_version=code_version(),
    )  # fmt: skip
    made = {
        "artifact": artifact.id, "kind": kind, "knowledge_base": knowledge_base.name, "configuration": configuration,
        "metrics": metrics, "data_hash": data_hash, "code_version": artifact.code_version, **(job or {}),
    }  # fmt: skip
    written = {
        CONFIGURATION: _json({"kind": kind, "format": FORMAT, HASHED: True, **served}),
        JOB: _json(made, orjson.OPT_INDENT_2),
        **({WEIGHTS: _saved(tensors)} if tensors else {}),
        **(files or {}),
    }
    check_files(written)
    manifest = manifest_of(written)
    artifact.content_hash = content_hash(manifest)
    write_folder(artifact.directory, {**written, MANIFEST: manifest})
    try:
        artifact.save(force_insert=True)
    except BaseException:
        shutil.rmtree(artifact.directory)
        raise
    transaction.on_commit(partial(send_new, artifact))
    return artifact


def _json(value: Any, layout: int = 0) -> bytes:
    return orjson.dumps(value, default=str, option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_NON_STR_KEYS | layout)


def _saved(tensors: Mapping[str, NDArray[Any]]) -> bytes:
    return save({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()})


def new_artifact_id(kind: str) -> str:
    """Return an id that no artifact has."""
    return f"{kind}-{uuid.uuid4().hex[:12]}"


def discard_artifact(artifact_id: str) -> None:
    """Remove the files of an artifact that was not registered, because its process was killed; else do nothing."""
    folder = Artifact(id=artifact_id).directory
    unfinished = folder.parent / f"{_UNFINISHED}{folder.name}"
    if (folder.exists() or unfinished.exists()) and not Artifact.objects.filter(pk=artifact_id).exists():
        shutil.rmtree(unfinished, ignore_errors=True)
        shutil.rmtree(folder, ignore_errors=True)


def write_folder(folder: Path, files: Mapping[str, bytes]) -> None:
    """Write files into a new folder that appears complete and flushed to disk, or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    _clear_unfinished(folder.parent)
    unfinished = folder.parent / f"{_UNFINISHED}{folder.name}"
    unfinished.mkdir()
    try:
        for name, content in files.items():
            (unfinished / name).parent.mkdir(parents=True, exist_ok=True)
            with (unfinished / name).open("wb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
        unfinished.rename(folder)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _clear_unfinished(parent: Path) -> None:
    for left in parent.glob(f"{_UNFINISHED}*"):
        if time.time() - left.stat().st_mtime > _STALE:
            shutil.rmtree(left, ignore_errors=True)
