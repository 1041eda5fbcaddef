"""refit: the mapping of an earlier import, on the files of a new one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

Json = Mapping[str, Any]


@dataclass(frozen=True)
class Refitted:
    """A mapping of new files: which of them got their earlier mapping, and the columns that were not there then.

    `known` are the paths of the new files. `new` are pairs of path and column; these columns keep the guess.
    """

    mapping: dict[str, Any]
    known: tuple[str, ...]
    new: tuple[tuple[str, str], ...]


def refit(earlier: Json, guessed: Json, columns: Mapping[str, list[str]]) -> Refitted:
    """Return the guess with everything that the earlier mapping says about these files.

    `columns` are the columns of the new files by path. A file is known by its path, else by having the very columns of
    one earlier file that has no successor of its path. How it is written (format, delimiter …) is as it is now.
    """
    before = {file["path"]: file for file in earlier.get("files", [])}
    unclaimed = [file for path, file in before.items() if path not in columns]
    files, known, new = [], [], []
    for file in guessed.get("files", []):
        found = before.get(file["path"]) or _alike(columns.get(file["path"], []), unclaimed)
        if found is None:
            files.append(dict(file))
            continue
        known.append(file["path"])
        kept = {name: use for name, use in found["columns"].items() if name in file["columns"]}
        fresh = [name for name in file["columns"] if name not in found["columns"]]
        new += [(file["path"], name) for name in fresh]
        said = {key: found[key] for key in ("role", "type", "relation", "numbered") if key in found}
        written = {key: value for key, value in file.items() if key not in ("type", "relation", "numbered")}
        # A new column may not take a use that only one column may have, and that an earlier one has.
        uses = {use["use"] for use in kept.values()}
        added = {name: _free(file["columns"][name], uses) for name in fresh}
        files.append(written | said | {"columns": {name: (kept | added)[name] for name in file["columns"]}})
    rest = {key: earlier[key] for key in ("about", "types", "relations") if key in earlier}
    return Refitted({**guessed, **rest, "name": earlier["name"], "files": files}, tuple(known), tuple(new))


def _alike(columns: list[str], files: list[Json]) -> Json | None:
    found = [file for file in files if columns and set(file["columns"]) == set(columns)]
    return found[0] if len(found) == 1 else None


def _free(use: Json, taken: set[str]) -> dict[str, Any]:
    once = use["use"] in ("id", "type", "source", "target", "relation")
    return {"use": "field"} if once and (use["use"] in taken or use["use"] == "id") else dict(use)
