"""Nodes that a phrase describes or nearly names, looked up for content words that nothing else in a question explains.

soft_names("what is Keytruda used for", [(8, 16)], tools)
→ [Named(mention=Mention(8, 16, "Keytruda", keys=(12,), similarity=0.4, how="described"), …)]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from search.interfaces import Encoder, MentionIndex, NodeStore, TextIndex, VectorIndex
from search.language.names import Named


@dataclass(frozen=True)
class SoftTools:
    """What soft names are looked up in. `vectors` and `encoder` may be None: then no name is found by its vector."""

    text: TextIndex
    nodes: NodeStore
    mentions: MentionIndex
    vectors: VectorIndex | None = None
    encoder: Encoder | None = None


def soft_names(text: str, spans: Sequence[tuple[int, int]], tools: SoftTools, most: int = 3) -> list[Named]:
    """Return nodes that the stretches of a question describe or nearly name, the surest first, up to `most`.

    `spans` are stretches of content words that no name, value, relation or type explains, as offsets into the text;
    neighbouring words belong into one stretch. `mention.how` is `described`, `near` or `translated`, and
    `mention.similarity`, well below 1, says how sure the find is.
    """
    return []
