"""pack_artifact: the files of an artifact as one ZIP archive, and what they are."""

from __future__ import annotations

import json
import tempfile
import zipfile
from dataclasses import dataclass
from io import BufferedRandom

from search.artifact_files import CARD, MANIFEST
from search.models import Artifact

MOST_CARD = 200_000
"""Most characters of a model card that are read."""


@dataclass(frozen=True, slots=True)
class FileOfArtifact:
    """A file: its name within the artifact, its bytes, and its hash; empty if none was recorded."""

    name: str
    bytes: int
    blake2b: str


def files_of(artifact: Artifact) -> list[FileOfArtifact]:
    """Return the files of an artifact in the order of their names; none if its folder is not on this machine."""
    folder = artifact.directory
    if not folder.is_dir():
        return []
    try:
        listed = json.loads((folder / MANIFEST).read_bytes())
        hashes = {str(name): str(one["blake2b"]) for name, one in listed.items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        hashes = {}
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        FileOfArtifact(name := path.relative_to(folder).as_posix(), path.stat().st_size, hashes.get(name, ""))
        for path in paths
    ]


def card_of(artifact: Artifact) -> str:
    """Return the model card as Markdown; an empty string if there is none."""
    try:
        return (artifact.directory / CARD).read_text(encoding="utf-8", errors="replace")[:MOST_CARD]
    except OSError:
        return ""


def pack_artifact(artifact: Artifact) -> BufferedRandom:
    """Return an open temporary file with a ZIP archive of the artifact's files; it vanishes when it is closed.

    The archive holds one folder, named like the artifact. Raises FileNotFoundError if its files are not here.
    """
    files = files_of(artifact)
    if not files:
        raise FileNotFoundError(artifact.directory)
    packed = tempfile.TemporaryFile()  # noqa: SIM115 -- the caller sends it, and closes it
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_STORED) as archive:
        for one in files:
            archive.write(artifact.directory / one.name, f"{artifact.pk}/{one.name}")
    packed.seek(0)
    return packed
