"""Converts a processed folder of STaRK into a bundle: for trusted files on a trusted machine only.

STaRK (Wu et al., "STaRK: Benchmarking LLM Retrieval on Textual and Relational Knowledge Bases", 2024) keeps a knowledge
base as pickles: `node_info.pkl` {node: {key: value}}, `node_types.pt` and `edge_types.pt` (codes), `edge_index.pt` (two
rows of nodes), `node_type_dict.pkl` and `edge_type_dict.pkl` {code: name}. Only plain values are unpickled; tensors are
loaded with `weights_only`. This module imports torch, so nothing but the command `convert_stark` may import it.
"""

from __future__ import annotations

import gzip
import pickle
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any, cast

import numpy as np
import orjson
import torch
from numpy.typing import NDArray

from search.domain.run_context import Progress, silent
from search.ingest.fields import Scalar, scalar
from search.ingest.parts import WRITE_EDGES, WRITE_NODES

NAME_KEYS = ("name", "title", "DisplayName", "display_name", "product_title", "brand_name", "category_name")
SKIPPED_KEYS = frozenset(("id", "type", "node_id", "node_type"))
BOTH_WAYS = 0.95
"""Share of edges that also lie in the opposite direction, from which on each pair is written once."""
_ALLOWED = frozenset(
    (
        ("builtins", "set"), ("builtins", "frozenset"), ("collections", "OrderedDict"), ("collections", "defaultdict"),
        ("builtins", "dict"), ("builtins", "list"), ("builtins", "int"), ("builtins", "str"),
        ("numpy", "dtype"), ("numpy.core.multiarray", "scalar"), ("numpy._core.multiarray", "scalar"),
    )
)  # fmt: skip


class ConversionFailed(Exception):
    """The folder cannot be converted; the text is a sentence for people."""


class _PlainUnpickler(pickle.Unpickler):
    """Unpickles plain values only: a pickle that names any other class or function is refused."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ALLOWED:
            raise ConversionFailed(f"The pickle uses {module}.{name}, which plain data does not need; it was not run.")
        return super().find_class(module, name)


def convert(folder: Path, target: Path, name: str, progress: Progress = silent) -> tuple[int, int]:
    """Write the bundle into the existing folder `target`; return the numbers of nodes and edges.

    All nodes are in memory meanwhile, because a pickle cannot be read piece by piece. Raises ConversionFailed.
    """
    progress("Reading STaRK's files", 0, None)
    info: Mapping[Any, Any] = _plain(folder / "node_info.pkl", dict)
    type_names: Mapping[int, str] = _plain(folder / "node_type_dict.pkl", dict)
    relation_names: Mapping[int, str] = _plain(folder / "edge_type_dict.pkl", dict)
    node_types = _tensor(folder / "node_types.pt", 1)
    edge_index, edge_types = _tensor(folder / "edge_index.pt", 2), _tensor(folder / "edge_types.pt", 1)
    if edge_index.shape != (2, len(edge_types)):
        raise ConversionFailed(f"edge_index has the shape {edge_index.shape}, edge_types {edge_types.shape}.")
    types = [str(type_names[int(code)]) for code in node_types]
    if missing := next((key for key in info if not 0 <= int(key) < len(types)), None):
        raise ConversionFailed(f"node_info names {missing}, but node_types has only {len(types)} entries.")
    kb = {"name": name, "node_types": {name: {} for name in dict.fromkeys(types)}, "source": "STaRK, processed"}
    (target / "kb.json").write_bytes(orjson.dumps(kb, option=orjson.OPT_INDENT_2) + b"\n")
    with _gzip(target / "nodes.jsonl.gz") as file:
        for done, (key, given) in enumerate(info.items(), 1):
            file.write(orjson.dumps(_node(int(key), types[int(key)], given)) + b"\n")
            if done % 1_000 == 0 or done == len(info):
                progress(WRITE_NODES, done, len(info))
    return len(info), _write_edges(target, edge_index, edge_types, relation_names, progress)


def _plain(path: Path, expected: type) -> Any:
    try:
        with path.open("rb") as file:
            value = _PlainUnpickler(file).load()
    except (pickle.UnpicklingError, EOFError, AttributeError, ValueError, ImportError, IndexError) as error:
        raise ConversionFailed(f"{path.name} is no pickle of plain data: {error}") from error
    except OSError as error:
        raise ConversionFailed(f"{path} cannot be read: {error.strerror}.") from error
    if not isinstance(value, expected):
        raise ConversionFailed(f"{path.name} holds a {type(value).__name__}, expected a {expected.__name__}.")
    return value


def _tensor(path: Path, dimensions: int) -> NDArray[np.int64]:
    try:
        tensor = torch.load(path, weights_only=True, map_location="cpu")
    except (pickle.UnpicklingError, EOFError, RuntimeError, ValueError) as error:
        raise ConversionFailed(f"{path.name} is no tensor of torch: {str(error).splitlines()[0]}") from error
    except OSError as error:
        raise ConversionFailed(f"{path} cannot be read: {error.strerror}.") from error
    if not isinstance(tensor, torch.Tensor) or tensor.dim() != dimensions:
        raise ConversionFailed(f"{path.name} holds no tensor of {dimensions} dimensions.")
    return cast("NDArray[np.int64]", tensor.to(torch.int64).numpy())


def _write_edges(
    target: Path,
    ends: NDArray[np.int64],
    types: NDArray[np.int64],
    names: Mapping[int, str],
    progress: Progress,
) -> int:
    kept = _one_of_each_pair(ends, types)
    with _gzip(target / "edges.tsv.gz") as file:
        file.write(b"source\trelation\ttarget\n")
        for begin in range(0, len(kept), 100_000):
            block = kept[begin : begin + 100_000]
            sources, targets = ends[0, block].tolist(), ends[1, block].tolist()
            relations = [str(names[code]).replace("\t", " ") for code in types[block].tolist()]
            lines = (f"{s}\t{r}\t{t}\n" for s, r, t in zip(sources, relations, targets, strict=True))
            file.write("".join(lines).encode())
            progress(WRITE_EDGES, begin + len(block), len(kept))
    return len(kept)


def _one_of_each_pair(ends: NDArray[np.int64], types: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the positions of the edges to write: the first of each pair if the graph holds both directions."""
    size = int(ends.max(initial=0)) + 1
    relations = int(types.max(initial=0)) + 1
    forward = (ends[0] * relations + types) * size + ends[1]
    backward = (ends[1] * relations + types) * size + ends[0]
    if not len(types) or np.isin(backward, forward).mean() < BOTH_WAYS:
        return np.arange(len(types))
    _, first = np.unique(np.minimum(forward, backward), return_index=True)
    return np.sort(first)


def _node(key: int, type_: str, given: Any) -> dict[str, Any]:
    info = given if isinstance(given, Mapping) else {"value": given}
    taken = next((k for k in NAME_KEYS if isinstance(info.get(k), str) and info[k].strip("\0 \n\t")), "")
    name = info[taken].replace("\0", "") if taken else str(key)
    fields = {k: value for k, value in _fields(info) if k != taken and k not in SKIPPED_KEYS}
    return {"id": str(key), "type": type_, "name": name, "fields": fields}


def _fields(info: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the fields of a node; the keys of an object inside become fields of their own."""
    for key, value in info.items():
        if isinstance(value, Mapping):
            yield from _fields(value, f"{prefix}{key} " if prefix else "")
        elif (fitted := _value(value)) not in (None, "", []):
            yield f"{prefix}{key}", fitted


def _value(value: Any) -> Scalar | list[Scalar] | None:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=str) if isinstance(value, set | frozenset) else value
        return [fitted for item in items if (fitted := _item(item)) not in (None, "")]
    return _without_nul(scalar(value))


def _item(item: Any) -> Scalar:
    """Return an item of a list; an object (such as a review) becomes one text."""
    if isinstance(item, Mapping):
        return "; ".join(f"{key}: {value}" for key, value in item.items() if value not in (None, "")).replace("\0", "")
    found = _without_nul(scalar(item.item() if isinstance(item, np.generic) else item))
    return "" if found is None else found


def _without_nul(value: Scalar | None) -> Scalar | None:
    return value.replace("\0", "") if isinstance(value, str) else value


def _gzip(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.GzipFile(path, "wb", compresslevel=6, mtime=0))
