"""The signals of the candidates of many questions, as their searches find them; interrupted work goes on from them."""

from __future__ import annotations

import hashlib
import io
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
from numpy.typing import NDArray

from search.domain.run_context import RunContext
from search.interfaces import Keys
from search.signals.gather import Signals
from search.signals.table import SignalTable
from training.learning.task import Material

QUESTIONS_A_BLOCK = 32
"""Questions whose signals are saved together."""
PART = "searches"


@dataclass(frozen=True)
class Tables:
    """The table of each question by its place; a question whose search failed has none."""

    by_place: Mapping[int, SignalTable]

    @property
    def names(self) -> list[str]:
        """The names of all signals, sorted."""
        return sorted({name for table in self.by_place.values() for name in table.columns})


def collect(material: Material, signals: Signals, places: Sequence[int], run: RunContext) -> Tables:
    """Search the questions at these places, and return the signals of their candidates.

    Raises what `run.check()` and the searches raise. Blocks that were saved by a former attempt are not searched again.
    """
    found: dict[int, SignalTable] = {}
    for first in range(0, len(places), QUESTIONS_A_BLOCK):
        block = places[first : first + QUESTIONS_A_BLOCK]
        name = _name(material, signals, block)
        saved = run.checkpoints.load(name)
        if saved is not None:
            found |= _read(saved)
            run.report(PART, first + len(block), len(places))
            continue
        fresh: dict[int, SignalTable] = {}
        for done, place in enumerate(block, first + 1):
            handed = material.found(place, run.limit)
            if handed is not None:
                fresh[place] = signals(handed.question, handed.fusion, handed.plans, handed.checked)
            run.report(PART, done, len(places))
        run.checkpoints.save(name, _written(fresh))
        found |= fresh
    return Tables(found)


def _name(material: Material, signals: Signals, block: Sequence[int]) -> str:
    """Return the name of a block's checkpoint. Other searches, questions or a other depth give another name."""
    asked = [[place, material.examples[place].text] for place in block]
    content = orjson.dumps([material.found.fingerprint, signals.depth, asked])
    return f"signals-{hashlib.blake2b(content, digest_size=8).hexdigest()}"


def _written(tables: Mapping[int, SignalTable]) -> bytes:
    names = sorted({name for table in tables.values() for name in table.columns})
    arrays: dict[str, NDArray[np.generic]] = {"places": np.array(sorted(tables), dtype=np.int64)}
    for place, table in tables.items():
        arrays[f"keys-{place}"], arrays[f"values-{place}"] = table.keys, table.matrix(names)
    arrays["names"] = np.frombuffer(orjson.dumps(names), dtype=np.uint8)
    file = io.BytesIO()
    np.savez_compressed(file, allow_pickle=False, **arrays)
    return file.getvalue()


def _read(content: bytes) -> dict[int, SignalTable]:
    arrays = np.load(io.BytesIO(content), allow_pickle=False)
    names = orjson.loads(arrays["names"].tobytes())
    return dict(_tables(arrays, names))


def _tables(arrays: Mapping[str, NDArray[np.generic]], names: Sequence[str]) -> Iterator[tuple[int, SignalTable]]:
    for place in arrays["places"].tolist():
        keys: Keys = np.asarray(arrays[f"keys-{place}"], dtype=np.int32)
        values = np.asarray(arrays[f"values-{place}"], dtype=np.float32)
        yield place, SignalTable(keys, {name: values[:, at] for at, name in enumerate(names)})
