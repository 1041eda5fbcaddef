"""Names of the parts of importing and indexing, as progress reports them, in their order."""

from __future__ import annotations

READ_NODES = "Reading nodes"
READ_EDGES = "Reading edges"
CHECK_NODES = "Checking nodes"
CHECK_EDGES = "Checking edges"
LOAD_NODES = "Loading nodes"
INDEX_NODES = "Indexing nodes"
LOAD_EDGES = "Loading edges"
INDEX_EDGES = "Indexing edges"
EMBED = "Embedding texts"
INDEX_VECTORS = "Indexing vectors"
COMPARE_GRAPH = "Comparing nodes"
WRITE_NODES = "Writing nodes"
WRITE_EDGES = "Writing edges"
REMOVE_GRAPHS = "Removing outdated projections"
EXPORT_NODES = "Exporting nodes"
EXPORT_EDGES = "Exporting edges"
WRITE_VECTORS = "Index files: vectors"

UNITS = {
    READ_NODES: "nodes", READ_EDGES: "edges", CHECK_NODES: "bytes", CHECK_EDGES: "bytes", LOAD_NODES: "bytes",
    LOAD_EDGES: "edges", COMPARE_GRAPH: "nodes", WRITE_NODES: "nodes", WRITE_EDGES: "edges", EXPORT_NODES: "nodes",
    EXPORT_EDGES: "edges", "": "",
}  # fmt: skip
"""Part → unit of its progress: files count in bytes; the parts of indexing show only a percentage."""


def index_files(name: str) -> str:
    """Return the name of the part that writes a folder of index files."""
    return f"Index files: {name}"
