"""Tools of mending: keys, lists, words and types of a plan's JSON, and the sentences about what was corrected."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from search.domain.graph import ANY, Schema
from search.domain.mending.names import NameBook, fold
from search.domain.mending.words import COMMENTARY, WRAPPERS
from search.domain.plan import MAX_ANCHORS, MAX_HOPS

Json = dict[str, Any]
MOST_ITEMS = 2 * max(MAX_ANCHORS, MAX_HOPS)
"""Most items of a list that are mended; the parser rejects a list of this length in any case."""


class MendingTools:
    """The names of a schema, and corrections of single values; `said` collects the sentences."""

    def __init__(self, schema: Schema, depth: int = 1) -> None:
        self.schema, self.depth = schema, depth
        self.book = NameBook(schema)
        self.said: list[str] = []

    def unwrapped(self, data: object) -> object:
        """Return the plan inside a list or an object that only wraps it."""
        if isinstance(data, list) and len(data) == 1:
            self.say("the plan was inside a list")
            data = data[0]
        if isinstance(data, dict) and len(data) == 1:
            key, inner = next(iter(data.items()))
            if fold(str(key)) in WRAPPERS and isinstance(inner, dict):
                self.say(f"the plan was inside {key!r}")
                return inner
        return data

    def keys(self, item: Mapping[str, Any], known: Mapping[str, str], where: str) -> Json:
        """Return an object with correct names of keys, without commentary and without nulls."""
        kept: Json = {}
        of = f" of {where}" if where else ""
        for key, value in item.items():
            name = key if key in known.values() else known.get(fold(key), key)
            if name not in known.values() and fold(key) in COMMENTARY:
                self.say(f"the commentary {key!r}{of} was left out")
            elif value is not None and name not in kept:
                if name != key:
                    self.say(f"key {key!r}{of} was read as {name}")
                kept[name] = value
            elif value is not None:
                kept[key] = value
        return kept

    def listed(self, plan: Json, key: str, mend_item: Callable[[object, int], object]) -> Any:
        """Return the mended items of the list under a key; a single item becomes a list."""
        items = plan.get(key, [])
        if isinstance(items, dict | str):
            self.say(f"{key} was not a list")
            items = [items]
        return (
            [mend_item(item, i) for i, item in enumerate(items)]
            if isinstance(items, list) and len(items) <= MOST_ITEMS
            else items
        )

    def choose(self, item: Json, key: str, words: Mapping[str, str], where: str) -> None:
        """Replace a word by the word of the plan language that it means, if it means one."""
        value = item.get(key)
        if not isinstance(value, str) or value in words.values():
            return
        meant = words.get(value.strip(), words.get(fold(value)))
        if meant is not None:
            self.say(f"{key} {value!r}{f' of {where}' if where else ''} was read as {meant or 'either'}")
            item[key] = meant

    def type(self, value: object, where: str) -> object:
        """Return the node type that a value names; `*` for nothing, the value itself if it names none."""
        if value is None:
            return ANY
        if not isinstance(value, str):
            return value
        name = self.book.type_of(value)
        if name is None or name == value:
            return value
        self.say(f"type {value!r} of {where} was read as {name}")
        return name

    def say(self, what: str) -> None:
        """Record a correction."""
        if len(self.said) < 50:
            self.said.append(what if len(what) <= 200 else f"{what[:200]}…")
