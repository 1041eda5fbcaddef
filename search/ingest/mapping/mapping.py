"""The mapping of plain files to a knowledge base: what each file holds, and what each column is used for.

A mapping is written and read as JSON (`to_json`, `from_json`); `docs/importing.md` describes it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from search.domain.errors import InvalidRequest
from search.ingest.mapping.faults import faults_of
from search.ingest.mapping.uses import VERSION
from search.ingest.text_formats import encoding_name


@dataclass(frozen=True)
class ColumnMapping:
    """What one column is used for.

    `name` is the name of the field (default: the column's). `separator` splits a cell into a list. `prefix` is put
    before ids (uses id, source, target, edge), so that two files may count from 1. `relation` and `reverse` belong to
    the use `edge`: the cell holds ids of nodes to which (with `reverse`: from which) this relation leads. `numbers` and
    `dates` are the formats of the uses `number` and `date` (see `formats`). `missing` are cells that hold no value,
    besides empty ones. `unit` is what stands beside each number, such as `kg` or `$`. With `of` and `by`, the cells of
    a reference (uses source, target, edge) hold values of the column `by` of the file `of` instead of ids. With `makes`
    (use edge), each different value of the column becomes a node of that type. A cell of a
    `lenient` column that does not fit is left empty and told; otherwise the row is bad.
    """

    use: str
    name: str = ""
    separator: str = ""
    prefix: str = ""
    relation: str = ""
    reverse: bool = False
    numbers: str = ""
    dates: str = ""
    missing: tuple[str, ...] = ()
    unit: str = ""
    of: str = ""
    by: str = ""
    makes: str = ""
    lenient: bool = False

    def to_json(self) -> dict[str, Any]:
        """Return the column as a JSON object without its default values."""
        return _without_defaults(self)


@dataclass(frozen=True)
class FileMapping:
    """What one file holds.

    `path` is relative to the folder, with `/`. `type` (nodes) and `relation` (edges) apply to rows whose column of that
    use is empty or absent. `names` are the columns of a file whose first row does not name them; `header` says whether
    that first row is a header nevertheless, and then skipped. With `numbered` (nodes) no column is the id: a row is
    called by the file's name and its number, such as `films/7`. `skip` is the number of lines above the table, `below`
    the number of rows at its end that are not read, such as sums.
    """

    path: str
    role: str
    format: str = "csv"
    compression: str = ""
    delimiter: str = ","
    encoding: str = "utf-8"
    names: tuple[str, ...] = ()
    header: bool = True
    numbered: bool = False
    skip: int = 0
    below: int = 0
    type: str = ""
    relation: str = ""
    columns: Mapping[str, ColumnMapping] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the file as a JSON object without its default values."""
        given = {key: value for key, value in _without_defaults(self).items() if key != "columns"}
        return given | {"columns": {name: column.to_json() for name, column in self.columns.items()}}

    @property
    def stem(self) -> str:
        """The path without the endings of its format and compression: what row numbers follow in an id."""
        folder, slash, name = self.path.rpartition("/")
        return f"{folder}{slash}{name.split('.')[0] or name}"

    def used(self, use: str) -> tuple[str, ...]:
        """Return the columns with this use, in the mapping's order."""
        return tuple(name for name, column in self.columns.items() if column.use == use)


@dataclass(frozen=True)
class SourceMapping:
    """The mapping of a folder to a knowledge base.

    `types` and `relations` rename the labels of the files. A node with several labels takes the first one that `types`
    lists, otherwise its first. `about` holds the other entries of `kb.json` (title, language, `node_types`,
    `relation_types` with their wording …).
    """

    name: str
    files: tuple[FileMapping, ...]
    types: Mapping[str, str] = field(default_factory=dict)
    relations: Mapping[str, str] = field(default_factory=dict)
    about: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Return the mapping as a JSON object; `from_json` returns an equal mapping."""
        return {
            "version": VERSION,
            "name": self.name,
            "about": dict(self.about),
            "types": dict(self.types),
            "relations": dict(self.relations),
            "files": [file.to_json() for file in self.files],
        }

    @classmethod
    def from_json(cls, data: Any) -> SourceMapping:
        """Return the mapping written as a JSON object; InvalidRequest with every fault, each with its pointer."""
        if faults := list(faults_of(data)):
            raise InvalidRequest(faults)
        return cls(
            name=data["name"],
            files=tuple(_file(given) for given in data["files"]),
            types=dict(data.get("types") or {}),
            relations=dict(data.get("relations") or {}),
            about=dict(data.get("about") or {}),
        )

    def file(self, path: str) -> FileMapping | None:
        """Return the mapping of a file, or None if it is not listed."""
        return next((file for file in self.files if file.path == path), None)


def _file(given: Mapping[str, Any]) -> FileMapping:
    columns = {
        name: ColumnMapping(**{**column, "missing": tuple(column.get("missing") or ())})
        for name, column in (given.get("columns") or {}).items()
    }
    written = {"encoding": encoding_name(given["encoding"]) or ""} if "encoding" in given else {}
    return FileMapping(**{**given, **written, "columns": columns, "names": tuple(given.get("names") or ())})


def _without_defaults(item: Any) -> dict[str, Any]:
    values = asdict(item)
    defaults = {entry.name: entry.default for entry in fields(item)}
    kept = {name: value for name, value in values.items() if value != defaults[name]}
    return {name: list(value) if isinstance(value, tuple) else value for name, value in kept.items()}
