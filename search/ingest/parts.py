"""Names of the parts of importing and indexing, as progress reports them, in their order."""

from __future__ import annotations

READ_NODES = "Reading entities"
READ_EDGES = "Reading relations"
CHECK_NODES = "Checking entities"
CHECK_EDGES = "Checking relations"
LOAD_NODES = "Loading entities"
INDEX_NODES = "Indexing entities"
LOAD_EDGES = "Loading relations"
INDEX_EDGES = "Indexing relations"
EMBED = "Embedding texts"
INDEX_VECTORS = "Indexing vectors"
COPY_VECTORS = "Copying vectors to the engine"
INDEX_ENGINE = "Indexing vectors in the engine"
COMPARE_GRAPH = "Comparing entities"
WRITE_NODES = "Writing entities"
WRITE_EDGES = "Writing relations"
REMOVE_GRAPHS = "Removing outdated projections"
EXPORT_NODES = "Exporting entities"
EXPORT_EDGES = "Exporting relations"
WRITE_VECTORS = "Index files: vectors"
SEND = "Sending index files"

UNITS = {
    READ_NODES: "nodes", READ_EDGES: "edges", CHECK_NODES: "bytes", CHECK_EDGES: "bytes", LOAD_NODES: "bytes",
    LOAD_EDGES: "edges", COMPARE_GRAPH: "nodes", WRITE_NODES: "nodes", WRITE_EDGES: "edges", EXPORT_NODES: "nodes",
    EXPORT_EDGES: "edges", SEND: "bytes", "": "",
}  # fmt: skip
"""Part → unit of its progress: files count in bytes; the parts of indexing show only a percentage."""


def index_files(name: str) -> str:
    """Return the name of the part that writes a folder of index files."""
    return f"Index files: {name}"
