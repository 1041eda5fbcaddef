"""Names of partitions: a table's name and the number of the snapshot or vector set whose rows it holds."""

from typing import Literal

Partitioned = Literal["search_node", "search_edge", "search_vector"]


def partition(table: Partitioned, owner: int) -> str:
    """Return the partition's name; `owner` is the snapshot, or the vector set of `search_vector`."""
    return f"{table}_{owner:d}"
