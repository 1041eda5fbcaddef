"""A path through the graph as a statement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from search.plan_words import Relations
from search.text import path_text


def path_words(path: Sequence[Mapping[str, Any]], relations: Relations) -> str:
    """Return a path of a described search as a statement: `Amber Road was directed by Ada, who …`.

    A path with a relation that the schema does not word in the walked direction is returned with its arrows.
    """
    if not is_worded(path, relations):
        return path_text(path)
    said = [str(path[0]["node"]["name"])]
    for at in range(1, len(path) - 1, 2):
        wording = relations[path[at]["relation"]].wording(path[at]["direction"])
        said.append(f"{', which ' if at > 1 else ' '}{wording} {path[at + 1]['node']['name']}")
    return "".join(said)


def is_worded(path: Sequence[Mapping[str, Any]], relations: Relations) -> bool:
    """Whether the schema words each relation of a path in the walked direction."""
    return all(
        edge["relation"] in relations and bool(relations[edge["relation"]].wording(edge["direction"]))
        for edge in path[1::2]
    )
