"""Vectors of likely wordings of plans among the index files of a snapshot, one folder for each encoder.

They are exact (float32), so that a search finds the same plans as with vectors that it computes itself.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from search.interfaces import Encoder, Vectors
from search.models.index_folders import WORDINGS

_TEXTS, _VECTORS = "texts.json", "vectors.npy"


def folder_of(encoder: str) -> str:
    """Return the name of the folder with the vectors of the encoder of that name."""
    return WORDINGS + hashlib.sha256(encoder.encode()).hexdigest()[:12]


def write(folder: Path, texts: Sequence[str], vectors: Vectors) -> None:
    """Write texts and their vectors, one row a text, into a folder."""
    (folder / _TEXTS).write_text(json.dumps(list(texts), ensure_ascii=False), encoding="utf-8")
    np.save(folder / _VECTORS, np.asarray(vectors, dtype=np.float32))


def tell(encoder: Encoder, directory: Path) -> None:
    """Give an encoder that remembers vectors those that it has computed for a snapshot; `directory` is the snapshot's.

    The vectors are mapped into memory, so that the processes of a machine share them.
    """
    remember, folder = getattr(encoder, "remember", None), directory / folder_of(encoder.name)
    if remember is None or not folder.is_dir():
        return
    vectors = np.load(folder / _VECTORS, mmap_mode="r").view(np.ndarray)
    if vectors.shape[1] == encoder.dimensions:
        remember(json.loads((folder / _TEXTS).read_text(encoding="utf-8")), vectors)
