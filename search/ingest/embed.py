"""Embeds many texts in calls that are long enough to be fast and short enough to be stopped between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from search.interfaces import Encoder

CHARACTERS_AT_ONCE = 24_000
"""Characters of one call of an encoder that does not say how many it wants (`characters_at_once`)."""
EVERY_TEXT = 30
"""Characters that cost as much as handling a text costs, however short it is."""
CUT = 1_200
"""Characters after which encoders usually cut a text: 256 tokens."""


def embed(texts: Sequence[str], encoder: Encoder, told: Callable[[float], None]) -> NDArray[np.float16]:
    """Return the vectors of texts, encoded in several calls, so that a run can be stopped between two of them.

    Texts of like length are encoded together, because an encoder pads the texts of a batch to the longest. The calls
    depend on the texts alone, so that an interrupted run computes the same numbers as an undisturbed one. After each
    call `told` receives the share that is done; the exception that it raises ends the work.
    """
    lengths = [effort_of(len(text)) for text in texts]
    at_once = getattr(encoder, "characters_at_once", CHARACTERS_AT_ONCE)
    vectors = np.empty((len(texts), encoder.dimensions), dtype=np.float16)
    done, whole = 0, max(1, sum(lengths))
    for places in _calls(lengths, at_once):
        vectors[places] = encoder.encode([texts[at] for at in places])
        done += sum(lengths[at] for at in places)
        told(done / whole)
    return vectors


def effort_of(characters: int) -> int:
    """Return the work of embedding a text, in characters: a constant for every text, and no more than is embedded."""
    return EVERY_TEXT + min(characters, CUT)


def _calls(lengths: Sequence[int], at_once: int) -> Iterator[list[int]]:
    """Yield the places of texts, shortest first, in groups of at most `at_once` characters when padded."""
    group: list[int] = []
    for at in sorted(range(len(lengths)), key=lengths.__getitem__):
        if group and (len(group) + 1) * lengths[at] > at_once:
            yield group
            group = []
        group.append(at)
    if group:
        yield group
