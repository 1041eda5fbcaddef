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
from training.learning.task import FoundOfTask, LearningTools, Material

QUESTIONS_A_BLOCK = 32
"""Questions whose signals are saved together."""
PART = "searches"


@dataclass(frozen=True)
class RankerTables:
    """The table of each question by its place; a question whose search failed has none."""

    by_place: Mapping[int, SignalTable]

    @property
    def names(self) -> list[str]:
        """The names of all signals, sorted."""
        return sorted({name for table in self.by_place.values() for name in table.columns})


@dataclass(frozen=True)
class ReadSignals:
    """Keeps the signals of a search's candidates (task.Reader)."""

    depth: int

    def __call__(self, found: FoundOfTask, tools: LearningTools) -> SignalTable:
        """Return the signals of the first `depth` candidates of every list."""
        signals = Signals(tools.adjacency, tools.mentions, tools.text, self.depth)
        return signals(found.question, found.fusion, found.plans, found.checked)


def collect(material: Material, depth: int, places: Sequence[int], run: RunContext) -> RankerTables:
    """Search the questions at these places, and return the signals of the first `depth` candidates of every list.

    Raises what `run.check()` and the searches raise. Blocks that were saved by a former attempt are not searched again.
    """
    found: dict[int, SignalTable] = {}
    blocks: dict[str, Sequence[int]] = {}
    for first in range(0, len(places), QUESTIONS_A_BLOCK):
        block = places[first : first + QUESTIONS_A_BLOCK]
        name = _name(material, depth, block)
        saved = run.checkpoints.load(name)
        if saved is None:
            blocks[name] = block
        else:
            found |= _read(saved)
    _search(material, depth, blocks, found, run, len(places))
    return RankerTables(found)


def _search(
    material: Material, depth: int, blocks: Mapping[str, Sequence[int]], found: dict[int, SignalTable],
    run: RunContext, total: int,
) -> None:  # fmt: skip
    """Add the tables of the questions in these blocks to `found`, and save each block when it is complete."""
    block_of = {place: name for name, block in blocks.items() for place in block}
    missing = {name: len(block) for name, block in blocks.items()}
    done = total - len(block_of)
    run.report(PART, done, total)
    for place, table in material.found.read(list(block_of), ReadSignals(depth), run):
        if table is not None:
            found[place] = table
        done, name = done + 1, block_of[place]
        run.report(PART, done, total)
        missing[name] -= 1
        if not missing[name]:
            run.checkpoints.save(name, _written({one: found[one] for one in blocks[name] if one in found}))


def _name(material: Material, depth: int, block: Sequence[int]) -> str:
    """Return the name of a block's checkpoint. Other searches, questions or a other depth give another name."""
    asked = [[place, material.examples[place].text] for place in block]
    content = orjson.dumps([material.found.fingerprint, depth, asked])
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
