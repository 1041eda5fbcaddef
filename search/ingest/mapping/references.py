"""Finds which columns refer to the rows of which table, by the overlap of their values and by their names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from search.ingest.fields import is_number
from search.ingest.mapping.guess_lists import parts_of, separator_of
from search.ingest.mapping.guess_roles import ID_NAMES, NAMES_AS_IDS, id_column, name_column, plain
from search.ingest.mapping.names_of_things import kind_of
from search.ingest.mapping.sniff import Sniffed

KEY_WORDS = frozenset(
    ("id", "ids", "key", "keys", "ref", "refs", "uuid", "guid", "no", "nr", "num", "number", "nummer", "code", "codes")
)
"""Last words of the names of columns that hold keys."""
KNOWN_SHARE = 0.5
"""Share of a column's different values that are keys of a table, from which on the column may refer to its rows."""
NUMBERS_SHARE = 0.8
"""The same for plain numbers, where the column's name says the table as well: numbers are in many columns."""
SELF_SHARE = 0.8
"""The same for names of the table's own rows."""
FEWEST = 2
"""Different words that a column has at least, if only its values say that it refers to a table."""


@dataclass(frozen=True, slots=True)
class Key:
    """What the rows of a table are called by: the column of their ids, and one of names that differ (often none)."""

    sniffed: Sniffed
    kind: str
    id: str
    name: str
    ids: frozenset[str]
    names: frozenset[str]
    is_name: bool = False


@dataclass(frozen=True, slots=True)
class Reference:
    """A column that refers to the rows of a table, by their ids, else by the values of the column `by`.

    `share` is the share of its different values that the table has. `named` says that the column's name says so.
    `prefix` is what the values have before the ids of the table.
    """

    key: Key
    by: str
    share: float
    named: bool
    separator: str
    because: str
    prefix: str = field(default="")


Place = tuple[str, str]
"""Path of a file and name of a column."""


def find_references(files: Sequence[Sniffed]) -> tuple[dict[str, Key], dict[Place, Reference]]:
    """Return path → key of each table that has one, and the columns that refer to them.

    A column that is unique, but refers to another table by name and values, is no key of its own table.
    """
    taken: dict[str, frozenset[str]] = {one.file.path: frozenset() for one in files}
    while True:
        keys = {one.file.path: key for one in files if (key := _key(one, taken[one.file.path]))}
        found = dict(_references(files, keys))
        evicted = {
            path: taken[path] | {key.id}
            for path, key in keys.items()
            if (reference := found.get((path, key.id))) and reference.key.sniffed.file.path != path
        }
        if not evicted:
            return keys, found
        taken |= evicted


def _key(sniffed: Sniffed, taken: frozenset[str]) -> Key | None:
    kind = kind_of(sniffed.file.path)
    id_, because = id_column(sniffed, kind, taken)
    if not id_:
        return None
    is_name = because == NAMES_AS_IDS
    name = "" if is_name else name_column(sniffed, kind, {id_, *taken})[0]
    if name in sniffed.repeated:
        name = ""
    return Key(sniffed, kind, id_, name, _all_values(sniffed, id_), _all_values(sniffed, name), is_name)


def _all_values(sniffed: Sniffed, column: str) -> frozenset[str]:
    if not column:
        return frozenset()
    return sniffed.keys.get(column) or frozenset(str(value).strip() for value in sniffed.values(column))


def _references(files: Sequence[Sniffed], keys: Mapping[str, Key]) -> Iterator[tuple[Place, Reference]]:
    kinds = {kind_of(one.file.path) for one in files}
    for sniffed in files:
        own = keys.get(sniffed.file.path)
        for column in sniffed.columns:
            if own and column == own.id and _is_own(column, own):
                continue
            found = [one for key in keys.values() if (one := _reference(sniffed, column, key, own))]
            if any(says(column, kind) for kind in kinds):
                # Values of one table may be those of another by chance; the column's name says which is meant.
                found = [one for one in found if one.named]
            if found:
                yield (sniffed.file.path, column), max(found, key=_rank)


def _is_own(column: str, own: Key) -> bool:
    """Whether a column that is a table's key says so by its name: `id`, or the name of the table's own rows."""
    return plain(column) in ID_NAMES or says(column, own.kind)


def _rank(reference: Reference) -> tuple[bool, bool, float]:
    return reference.named, not reference.by, reference.share


def _reference(sniffed: Sniffed, column: str, key: Key, own: Key | None) -> Reference | None:
    itself = own is not None and key.sniffed.file.path == own.sniffed.file.path
    if itself and column in (key.id, key.name):
        return None
    word = plain(column)
    if word in ID_NAMES or sniffed.decision(column).kind == "date":
        return None
    separator, _ = separator_of(sniffed.values(column), sniffed.file.format)
    values = _values(sniffed, column, separator)
    if not values:
        return None
    said = says(column, key.kind) and not (itself and not _has_key_word(word))
    same = not itself and word == plain(key.id) and not (own and column == own.id)
    named = said or same
    for by, known in (("", key.ids), (key.name, key.names)):
        if not known:
            continue
        share = len(values & known) / len(values)
        if itself and ((key.is_name and share < SELF_SHARE) or _repeats_own(sniffed, column, key)):
            continue
        if _refers(values, share, said=said, named=named, word=word):
            because = (
                f"{share:.0%} of its different values are in the column '{by or key.id}' of {key.sniffed.file.path}"
            )
            return Reference(key, by, share, named, separator, because)
    prefix = _prefix(values, key.ids) if said else ""
    if said and (prefix or _has_key_word(word)):
        because = f"its name says that it refers to {key.sniffed.file.path}; but none of its first values are there"
        return Reference(key, "", 0.0, True, separator, because, prefix)
    return None


def _refers(values: frozenset[str], share: float, *, said: bool, named: bool, word: str) -> bool:
    numbers = all(is_number(value) for value in values)
    if numbers:
        return (named and share >= NUMBERS_SHARE) or (said and share > 0 and _has_key_word(word))
    if named and _has_key_word(word):
        return share > 0
    alone = len(values) < FEWEST and not any(mark.isdigit() for value in values for mark in value)
    return share >= KNOWN_SHARE and (named or not alone)


def _values(sniffed: Sniffed, column: str, separator: str) -> frozenset[str]:
    missing = sniffed.decision(column).missing
    parts = (part for value in sniffed.values(column) for part in parts_of(value, separator))
    return frozenset(text for part in parts if (text := str(part).strip()) and text not in missing)


def _repeats_own(sniffed: Sniffed, column: str, key: Key) -> bool:
    """Whether a column mostly repeats the key of its own row."""
    rows = [row for row in sniffed.sample if row.get(column)]
    return sum(row.get(column) == row.get(key.id) for row in rows) * 2 > len(rows)


def _prefix(values: frozenset[str], ids: frozenset[str]) -> str:
    """Return what stands before every value whose rest is an id: `NUR-` where `NUR-1` has to be `1`."""
    found = {value[: len(value) - len(id_)] for value in values for id_ in ids if value.endswith(id_)}
    for prefix in sorted(found, key=len, reverse=True):
        if prefix and all(value.startswith(prefix) and value.removeprefix(prefix) in ids for value in values):
            return prefix
    return ""


def _has_key_word(word: str) -> bool:
    return word.rsplit("_", 1)[-1] in KEY_WORDS


def says(column: str, kind: str) -> bool:
    """Whether the name of a column says what the rows of a table are: `Member No`, `required_course_id`, `Studio`."""
    words = [word for word in plain(column).split("_") if word]
    while len(words) > 1 and words[-1] in KEY_WORDS | {"name", "title"}:
        words.pop()
    return bool(words) and _alike(words[-1], kind.rsplit("_", 1)[-1])


def _alike(word: str, kind: str) -> bool:
    """Whether two words are the same but for an ending: `objekt` and `objekte`, `movies` and `movie`."""
    short, long = sorted((kind_of(word), kind), key=len)
    return short == long or (len(short) >= 4 and long.startswith(short) and len(long) - len(short) <= 2)


def stem_of(column: str) -> str:
    """Return the words of a column's name without a key word at the end: `director_id` → `director`."""
    return re.sub(rf"_({'|'.join(sorted(KEY_WORDS))})$", "", plain(column))
