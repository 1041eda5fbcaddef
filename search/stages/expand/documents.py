"""The documents of the first candidates of lists, as texts and as parts of an expansion."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from search.domain.cutting import shortened
from search.domain.expansion import ExpansionPart
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.ranking import Ranking
from search.domain.trace import Limit
from search.interfaces import NodeStore
from search.text import document


@dataclass(frozen=True, slots=True)
class FoundDocument:
    """A node and the text of its document, as it is indexed: with the names of its neighbours."""

    node: Node
    text: str

    def part(self) -> ExpansionPart:
        """Return the document as a part of an expansion."""
        return ExpansionPart(self.text, "document", self.node)


def documents_of(nodes: NodeStore, keys: Sequence[int], limit: Limit) -> list[FoundDocument]:
    """Return the documents of nodes, in the order of the keys. Raises StageError."""
    whole = nodes.nodes(keys, limit)
    return [FoundDocument(node, document(node, nodes.neighbour_names(node.key))) for node in whole]


def heads_of(lists: Iterable[Ranking | Fusion], depth: int) -> list[int]:
    """Return the keys of the first `depth` candidates of each list, each once."""
    return list(dict.fromkeys(key for listed in lists for key in listed.ranking.keys[:depth]))


def numbered(documents: Sequence[FoundDocument], each: int) -> str:
    """Return documents as a numbered list for a prompt, each cut after `each` characters."""
    return "\n\n".join(f"[{at}] {shortened(found.text, each)}" for at, found in enumerate(documents, 1))
