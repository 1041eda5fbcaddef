"""STaRK's pickles become a bundle; a pickle that would run something is refused."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
import torch
from django.core.management import CommandError, call_command

from search.ingest.detect import detect
from search.ingest.faults import FaultLog
from search.ingest.stark import ConversionFailed, convert
from search.ingest.validate import check

INFO = {
    0: {
        "id": 9606,
        "type": "disease",
        "name": "Colitis",
        "details": {"summary": "Of the colon.", "codes": ["K50", ""]},
    },
    1: {"title": "A drug\0", "review": [{"stars": 5, "text": "good"}], "price": None},
    2: {"name": "Gene", "score": 1.5},
}


def processed(
    folder: Path, info: Any = INFO, edges: list[list[int]] | None = None, types: list[int] | None = None
) -> Path:
    """Write a processed folder, in the form that STaRK's own code writes."""
    folder.mkdir()
    edges = [[0, 1, 1], [1, 0, 2]] if edges is None else edges
    for name, value in (
        ("node_info", info), ("node_type_dict", {0: "disease", 1: "drug", 2: "gene"}),
        ("edge_type_dict", {0: "treats", 1: "targets"}),
    ):  # fmt: skip
        (folder / f"{name}.pkl").write_bytes(pickle.dumps(value))
    torch.save(torch.tensor(edges), folder / "edge_index.pt")
    torch.save(torch.tensor([0, 0, 1] if types is None else types), folder / "edge_types.pt")
    torch.save(torch.tensor([0, 1, 2]), folder / "node_types.pt")
    return folder


def test_a_processed_folder_becomes_a_bundle(tmp_path: Path) -> None:
    call_command("convert_stark", str(processed(tmp_path / "prime")), str(tmp_path / "bundle"))
    log = FaultLog()
    checked = check(tmp_path / "bundle", log)
    assert (log.faults, checked.manifest.name) == ([], "prime")
    names = [node_type.name for node_type in checked.schema.node_types]
    assert [(n.id, names[n.type], n.name, n.fields) for _, n in checked.good_nodes()] == [
        ("0", "disease", "Colitis", {"summary": "Of the colon.", "codes": ["K50"]}),
        ("1", "drug", "A drug", {"review": ["stars: 5; text: good"]}),
        ("2", "gene", "Gene", {"score": 1.5}),
    ]
    found = zip(checked.edges.source.tolist(), checked.edges.target.tolist(), strict=True)
    assert sorted(found) == [(0, 1), (1, 0), (1, 2)]


def test_a_graph_stored_in_both_directions_keeps_each_edge_once(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    both = processed(tmp_path / "both", edges=[[0, 1, 1, 2], [1, 0, 2, 1]], types=[0, 0, 1, 1])
    assert convert(both, tmp_path / "out", "both") == (3, 2)
    checked = check(tmp_path / "out", FaultLog())
    assert checked.edges.source.tolist() == [0, 1]


class Evil:
    def __reduce__(self) -> tuple[Any, ...]:
        return (os.system, ("touch /tmp/this-must-not-exist",))


def test_a_pickle_that_names_a_function_is_refused_and_not_run(tmp_path: Path) -> None:
    folder = processed(tmp_path / "evil", info={0: Evil()})
    with pytest.raises(CommandError, match=r"posix\.system"):
        call_command("convert_stark", str(folder), str(tmp_path / "bundle"))
    assert not Path("/tmp/this-must-not-exist").exists()
    torch.save(Evil(), folder / "edge_index.pt")
    (folder / "node_info.pkl").write_bytes(pickle.dumps(INFO))
    with pytest.raises(ConversionFailed, match=r"edge_index\.pt"):
        convert(folder, tmp_path, "evil")
    assert not Path("/tmp/this-must-not-exist").exists()


def test_files_that_do_not_fit_are_told(tmp_path: Path) -> None:
    with pytest.raises(ConversionFailed, match="node_info names 7"):
        convert(processed(tmp_path / "a", info={7: {}}), tmp_path, "a")
    with pytest.raises(ConversionFailed, match="edge_index has the shape"):
        convert(processed(tmp_path / "b", types=[0]), tmp_path, "b")
    (processed(tmp_path / "c") / "node_info.pkl").write_bytes(b"nothing")
    with pytest.raises(ConversionFailed, match="no pickle of plain data"):
        convert(tmp_path / "c", tmp_path, "c")
    (tmp_path / "c" / "node_info.pkl").unlink()
    with pytest.raises(ConversionFailed, match="cannot be read"):
        convert(tmp_path / "c", tmp_path, "c")


def test_an_import_of_the_folder_says_what_to_do(tmp_path: Path) -> None:
    detected = detect(processed(tmp_path / "prime"))
    assert (detected.kind, "convert_stark" in detected.why) == ("stark", True)
