"""Names of partitions: the table's name, and the number of the snapshot or vector set that owns the rows."""

from typing import Literal, get_args

Partitioned = Literal["search_node", "search_edge", "search_vector"]
PARTITIONED: tuple[Partitioned, ...] = get_args(Partitioned)


def partition(table: Partitioned, owner: int) -> str:
    """Return the partition's name; `owner` is the id of a snapshot, or of a vector set for `search_vector`."""
    return f"{table}_{owner:d}"
