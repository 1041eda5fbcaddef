"""The files of an artifact: which kinds there may be, the record of their hashes, and the check before they are read.

An artifact is a folder. It holds `config.json` (what the code that loads the weights needs), the weights as
safetensors, a PEFT adapter, or text, `job.json` (how it was made), `README.md` (the model card), and `files.json`: the
length and the BLAKE2b hash of every other file. The content hash of the artifact is the hash of `files.json`.

Nothing here is ever unpickled. A pickle, or a kind of file that is not listed, is refused by its name, both when an
artifact is registered and when one is loaded.
"""

from __future__ import annotations

import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Generic, TypeVar

from safetensors import SafetensorError

from search.domain.errors import StageError
from search.domain.kept import Kept

CONFIGURATION, WEIGHTS, JOB, CARD, MANIFEST = "config.json", "model.safetensors", "job.json", "README.md", "files.json"
ADAPTER, ADAPTER_CONFIGURATION = "adapter_model.safetensors", "adapter_config.json"
SCORE_TEMPLATE = "score_template.jinja"
"""The chat of a reranker as a template of vLLM."""
FORMAT = 1
HASHED = "hashed"
"""Key of `config.json`: the artifact has a `files.json`. Artifacts of older versions of the code have none."""
KINDS_OF_FILES = (".safetensors", ".json", ".json.gz", ".jsonl.gz", ".jsonl", ".md", ".txt", ".txt.gz", ".jinja")
PICKLED = (".pkl", ".pickle", ".pt", ".pth", ".bin", ".ckpt", ".joblib", ".npy", ".npz", ".dill", ".h5")
"""Endings of files that are pickles, or may contain one."""
ZIP = b"PK\x03\x04"
"""First bytes of a ZIP archive, the form in which torch saves pickles."""
HEAD = 9
"""Number of the first bytes of a file by which its content is recognised."""
_NAME = re.compile(r"[\w.-]{1,200}")
_ID = re.compile(r"[a-z0-9][a-z0-9-]{0,80}")
_AT_ONCE = 2**20
HASHED_BY = partial(hashlib.blake2b, digest_size=16)
"""Makes the hash of a file that `files.json` records."""


class RefusedArtifact(ValueError):
    """The files of an artifact may not be used; the text says which one, and why."""


def fault_of_name(name: str) -> str:
    """Return why an artifact may not have a file of this name (a path within its folder), or an empty string."""
    path = PurePosixPath(name)
    if path.is_absolute() or not path.parts or not all(map(_NAME.fullmatch, path.parts)) or ".." in path.parts:
        return f"{name[:120]!r} is no name of a file in a trained part"
    lower = path.name.lower()
    if lower.endswith(PICKLED):
        return f"{name} is a pickle or may contain one; weights are stored as safetensors"
    if not lower.endswith(KINDS_OF_FILES):
        return f"{name} is of an unknown kind; a trained part has files that end in {', '.join(KINDS_OF_FILES)}"
    return ""


def fault_of_content(name: str, head: bytes) -> str:
    """Return why the first bytes (`HEAD` of them) do not fit the file's name, or an empty string."""
    lower = name.lower()
    if lower.endswith(".safetensors"):
        # 8 bytes for the length of the header, then the header, which is JSON.
        right = head[8:9] == b"{" and int.from_bytes(head[:8], "little") < 2**32
        return "" if right else f"{name} is not in the format safetensors{_perhaps_pickled(head)}"
    if lower.endswith(".gz"):
        return "" if head.startswith(b"\x1f\x8b") else f"{name} is not packed with gzip{_perhaps_pickled(head)}"
    return f"{name} is not text{pickled}" if (pickled := _perhaps_pickled(head)) else ""


def _perhaps_pickled(head: bytes) -> str:
    """Return ", but a pickle" if the first bytes are those of a pickle or of a ZIP archive, else an empty string."""
    pickled = head.startswith(ZIP) or (head[:1] == b"\x80" and head[1:2] <= b"\x05" and len(head) > 1)
    return ", but a pickle" if pickled else ""


def check_files(files: Mapping[str, bytes]) -> None:
    """Raise RefusedArtifact if an artifact may not have one of these files."""
    for name, content in files.items():
        if fault := fault_of_name(name) or fault_of_content(name, content[:HEAD]):
            raise RefusedArtifact(fault)


def manifest_of(files: Mapping[str, bytes]) -> bytes:
    """Return the content of `files.json` for these files: name → length in bytes and BLAKE2b hash."""
    described = {
        name: {"bytes": len(content), "blake2b": _hash(content)} for name, content in sorted(files.items())
    }  # fmt: skip
    return json.dumps(described, indent=1).encode()


def content_hash(manifest: bytes) -> str:
    """Return the content hash of an artifact by the content of its `files.json`, 32 hexadecimal digits."""
    return _hash(manifest)


def _hash(content: bytes) -> str:
    return HASHED_BY(content).hexdigest()


def check_folder(folder: Path, expected: str = "") -> str:
    """Compare every file of an artifact with `files.json`, and return the content hash; empty if it has no such file.

    `expected` is the content hash that is recorded elsewhere; empty means that none is. Raises RefusedArtifact if a
    file was changed, added or removed, or is a pickle or of an unknown kind; OSError if a file cannot be read.
    """
    names = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if not path.is_dir()}
    for name in sorted(names):
        if fault := fault_of_name(name) or fault_of_content(name, _head(folder / name)):
            raise RefusedArtifact(fault)
    if MANIFEST not in names:
        if expected or _configuration(folder).get(HASHED):
            raise RefusedArtifact(f"its file {MANIFEST} is missing")
        return ""
    written = (folder / MANIFEST).read_bytes()
    found = content_hash(written)
    if expected and found != expected:
        raise RefusedArtifact(f"its content hash is {found}, and {expected} was registered")
    listed = listed_files(written)
    if missing := sorted(listed.keys() - names):
        raise RefusedArtifact(f"its file {missing[0]} is missing")
    if added := sorted(names - listed.keys() - {MANIFEST}):
        raise RefusedArtifact(f"its file {added[0]} was not there when it was registered")
    for name, (length, digest) in sorted(listed.items()):
        if (folder / name).stat().st_size != length or _hash_of(folder / name) != digest:
            raise RefusedArtifact(f"its file {name} was changed after it was registered")
    return found


def open_artifact(directory: Path, artifact: str, kind: str, stage: str) -> dict[str, Any]:
    """Check the files of the artifact in `directory`, and return its `config.json`; loaders call this first.

    Raises a permanent StageError of the stage if there is no such artifact, if it is of another kind or format, or if
    its files may not be used.
    """
    if not _ID.fullmatch(artifact):
        raise StageError(stage, f"{artifact[:80]!r} is not the name of a trained part", permanent=True)
    folder = directory / artifact
    try:
        configuration = _configuration(folder)
        found, version = configuration["kind"], configuration["format"]
        if (found, version) != (kind, FORMAT):
            reason = f"{artifact} is a {found} of format {version}, not a {kind} of format {FORMAT}"
            raise StageError(stage, reason, permanent=True)
        check_folder(folder)
    except FileNotFoundError as error:
        raise StageError(stage, f"there is no trained part {artifact} on this machine", permanent=True) from error
    except (OSError, ValueError, KeyError) as error:
        raise StageError(stage, f"the trained part {artifact} cannot be read ({error})", permanent=True) from error
    return configuration


T = TypeVar("T")


class LoadedArtifacts(ABC, Generic[T]):
    """What was learned, read from the artifacts of a kind under `directory`; the `most` used last are kept.

    The files of an artifact never change. To use other weights, a pipeline version names another artifact.
    """

    kind: ClassVar[str]
    stage: ClassVar[str]
    """Name of the stage in errors."""
    what: ClassVar[str]
    """What an artifact may hold for each fold, in the plural, for messages."""

    def __init__(self, directory: Path | str, most: int = 8) -> None:
        self._directory = Path(directory)
        self._kept: Kept[tuple[str, int], T] = Kept(lambda: most)

    def get(self, artifact: str, fold: int = -1) -> T:
        """Return what an artifact holds; if `fold` is 0 or more, what was trained without this fold.

        Raises StageError when there is nothing that this code can read.
        """
        return self._kept.get((artifact, fold), lambda make_room: self._read(artifact, fold, make_room))

    @abstractmethod
    def made(self, artifact: str, configuration: Mapping[str, Any], weights: Path, fold: int) -> T:
        """Return what was learned, from the file with the weights and the files beside it.

        Raises StageError, or OSError, ValueError, KeyError, TypeError, RuntimeError or SafetensorError for files that
        cannot be read.
        """

    def _read(self, artifact: str, fold: int, make_room: Callable[[], None]) -> T:
        configuration = open_artifact(self._directory, artifact, self.kind, self.stage)
        try:
            weights = self._directory / artifact / self._weights(artifact, configuration, fold)
            if not weights.is_file():
                raise StageError(self.stage, f"there is no trained part {artifact} on this machine", permanent=True)
            make_room()
            return self.made(artifact, configuration, weights, fold)
        except (OSError, ValueError, KeyError, TypeError, RuntimeError, SafetensorError) as error:
            reason = f"the trained part {artifact} cannot be read ({error})"
            raise StageError(self.stage, reason, permanent=True) from error

    def _weights(self, artifact: str, configuration: Mapping[str, Any], fold: int) -> str:
        """Return the name of the file with the weights. Raises StageError if the artifact has none for the fold."""
        if fold < 0:
            return WEIGHTS
        folds: Sequence[str] = configuration.get("folds", ())
        if fold >= len(folds):
            reason = f"{artifact} has kept {len(folds)} {self.what} of folds, and number {fold} is none of them"
            raise StageError(self.stage, reason, permanent=True)
        return Path(folds[fold]).name


def _configuration(folder: Path) -> dict[str, Any]:
    """Return `config.json`. Raises OSError, or ValueError if it holds no JSON object."""
    configuration = json.loads((folder / CONFIGURATION).read_bytes())
    if not isinstance(configuration, dict):
        raise RefusedArtifact(f"its file {CONFIGURATION} holds no JSON object")
    return configuration


def listed_files(manifest: bytes) -> dict[str, tuple[int, str]]:
    """Return name → (length in bytes, BLAKE2b hash) from the content of `files.json`. Raises RefusedArtifact."""
    try:
        return {str(name): (int(one["bytes"]), str(one["blake2b"])) for name, one in json.loads(manifest).items()}
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise RefusedArtifact(f"its file {MANIFEST} cannot be read") from error


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(HEAD)


def _hash_of(path: Path) -> str:
    found = HASHED_BY()
    with path.open("rb") as file:
        while piece := file.read(_AT_ONCE):
            found.update(piece)
    return found.hexdigest()
