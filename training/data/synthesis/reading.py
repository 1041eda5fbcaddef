"""Nodes with their fields, read in blocks; the latest ones are kept, because the same nodes are looked at again."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable
from dataclasses import dataclass, field

from search.domain.graph import Node
from training.data.synthesis.texts import all_words
from training.data.synthesis.tools import SynthesisTools

KEPT = 4_000
"""Nodes that are kept, with the words of their texts."""
KEPT_CHARACTERS = 20_000
"""A node with a longer text is read again each time, so that books do not fill the memory."""


@dataclass(frozen=True, eq=False)
class SynthesisReader:
    """Reads nodes; about `KEPT` of them stay in memory."""

    tools: SynthesisTools
    _kept: OrderedDict[int, tuple[Node, frozenset[str]]] = field(default_factory=OrderedDict, init=False)

    def nodes(self, keys: Iterable[int]) -> list[Node]:
        """Return the nodes of these keys, in their order."""
        return [node for node, _ in self.with_words(keys)]

    def with_words(self, keys: Iterable[int]) -> list[tuple[Node, frozenset[str]]]:
        """Return the nodes of these keys, each with all its words (`texts.all_words`)."""
        wanted = [int(key) for key in keys]
        new = [key for key in dict.fromkeys(wanted) if key not in self._kept]
        read = {node.key: (node, all_words(node)) for node in self.tools.nodes.nodes(new)} if new else {}
        found = [read[key] if key in read else self._kept[key] for key in wanted]
        for key, one in read.items():
            if sum(len(str(value)) for value in one[0].fields.values()) <= KEPT_CHARACTERS:
                self._kept[key] = one
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)
        return found
