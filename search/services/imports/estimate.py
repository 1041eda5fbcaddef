"""Estimates what an import will need: time, disk and memory.

Measured on two busy cores with the embedded Postgres: 325,157 nodes with 160 million characters and 508,582 edges were
checked and loaded in 28 s and take 310 MB; 42,797 nodes with 4.4 million characters and 129,413 edges took 7 s and take
28 MB. The process took 279 MB and 229 MB of memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SECONDS_A_NODE = 40e-6
SECONDS_AN_EDGE = 30e-6
DISK_A_NODE = 180
DISK_A_CHARACTER = 1.2
DISK_AN_EDGE = 117
MEMORY = 220 << 20
"""Bytes of memory of a process that has read nothing yet."""
MEMORY_A_NODE = 200
MEMORY_AN_EDGE = 60
# Vectors of the packaged encoder on two cores: 1,000 names or 8,000 tokens of documents a second; two vectors a node in
# half precision with their index; index files of the text.
NAMES_A_SECOND = 1_000
TOKENS_A_SECOND = 8_000
MOST_TOKENS = 256
CHARACTERS_A_TOKEN = 4
DISK_OF_VECTORS = 2 * 384 * 2 * 2.5
DISK_OF_INDEXES = 1_000


@dataclass(frozen=True, slots=True)
class ImportEstimate:
    """Seconds and bytes: of loading the graph, and of the indexes and vectors of its release."""

    load_seconds: float
    index_seconds: float
    load_disk: int
    index_disk: int
    memory: int

    def to_json(self) -> dict[str, Any]:
        """Return the estimate as a JSON object with its sums."""
        return {
            "seconds": round(self.load_seconds + self.index_seconds, 1),
            "load_seconds": round(self.load_seconds, 1),
            "index_seconds": round(self.index_seconds, 1),
            "disk": self.load_disk + self.index_disk,
            "load_disk": self.load_disk,
            "index_disk": self.index_disk,
            "memory": self.memory,
        }


def estimate(nodes: int, edges: int, characters: int) -> ImportEstimate:
    """Return the estimate for a source with so many nodes, edges, and characters of text of all nodes."""
    tokens = min(characters / CHARACTERS_A_TOKEN, nodes * MOST_TOKENS)
    return ImportEstimate(
        load_seconds=nodes * SECONDS_A_NODE + edges * SECONDS_AN_EDGE,
        index_seconds=nodes / NAMES_A_SECOND + tokens / TOKENS_A_SECOND,
        load_disk=round(nodes * DISK_A_NODE + characters * DISK_A_CHARACTER + edges * DISK_AN_EDGE),
        index_disk=round(nodes * (DISK_OF_VECTORS + DISK_OF_INDEXES)),
        memory=round(MEMORY + nodes * MEMORY_A_NODE + edges * MEMORY_AN_EDGE),
    )
