"""Cuts texts for which there is only so much room: prompts, and the text that is searched."""

from __future__ import annotations

from collections.abc import Sequence


def shares(lengths: Sequence[int], total: int) -> list[int]:
    """Return how much of each text is kept if all together may have `total` characters; the longest are cut first.

    shares([10, 100, 400], 210) → [10, 100, 100]
    """
    kept, left = [0] * len(lengths), max(0, total)
    for place, at in enumerate(sorted(range(len(lengths)), key=lengths.__getitem__)):
        kept[at] = min(lengths[at], left // (len(lengths) - place))
        left -= kept[at]
    return kept


def shortened(text: str, most: int) -> str:
    """Return the first `most` characters of a text, without the word that the cut would halve."""
    if len(text) <= most:
        return text
    head = text[:most]
    whole = head if text[most].isspace() else head.rpartition(" ")[0]
    return (whole or head).rstrip()
