"""Words of a node's text that describe it without its name (docs/synthesised-questions.md)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from search.domain.graph import Node
from search.interfaces import Keys
from search.language.words import FUNCTION_WORDS
from training.data.synthesis.base import Base
from training.data.synthesis.parts import Passage
from training.data.synthesis.reading import SynthesisReader
from training.data.synthesis.texts import (
    own_text,
    sentences,
    text_words,
    without_names,
)
from training.data.synthesis.tools import SynthesisTools

FEWEST_RARE = 3
"""Rare words that a sentence needs; sentences of common words describe no node."""
LONGEST_SENTENCE = 26
"""Words of a sentence that are said at once; a longer one is cut."""
FEWEST, MOST = 3, 8
"""Words of a list of rare words."""
KEPT = 0.75
"""Share of the words that stay in a sentence with words left out."""
LOOKED_AT = 12
"""Nodes nearest to a passage that are looked at for the same words."""
_TRIES = 3
_SHAPES = ("sentence", "shortened", "rare", "shuffled")
_SHARES = (0.4, 0.25, 0.2, 0.15)


@dataclass(frozen=True, eq=False)
class MadePassages:
    """Draws passages, and finds the nodes that meet them."""

    tools: SynthesisTools
    base: Base
    reader: SynthesisReader

    def draw(self, node: Node, chance: np.random.Generator) -> Passage | None:
        """Return a passage of a node's text, or None if the text says nothing that tells the node apart."""
        names = (node.name, *node.aliases)
        own = text_words(" ".join(names))
        said = sentences(own_text(node, self.base.schema))
        if not said:
            return None
        for _ in range(_TRIES):
            sentence = without_names(said[int(chance.integers(len(said)))], names)
            words = [word.strip(".,;:!?()[]\"'") for word in sentence.split()]
            words = _stretch([word for word in words if word], chance)
            rare = [word for word in dict.fromkeys(words) if self._tells(word, own)]
            if len(rare) >= FEWEST_RARE:
                shape = _SHAPES[int(chance.choice(len(_SHAPES), p=_SHARES))]
                return self._shaped(shape, words, rare, chance)
        return None

    def meeting(self, passage: Passage, keys: Sequence[int] | Keys) -> list[int]:
        """Return those of the nodes whose name, aliases and fields hold every word of a passage."""
        return [node.key for node, words in self.reader.with_words(keys) if passage.words <= words]

    def found(self, passage: Passage, node: Node) -> list[int]:
        """Return the nodes of a node's type that meet its passage: itself, and those that the text index finds."""
        near = [one.key for one in self.tools.text.search(passage.said, LOOKED_AT, [node.type])]
        return sorted({node.key, *self.meeting(passage, [key for key in near if key != node.key])})

    def _tells(self, word: str, own: Iterable[str]) -> bool:
        """Return whether a word is rare, and no part of the node's own name."""
        parts = text_words(word)
        return (
            bool(parts) and not parts & FUNCTION_WORDS and not parts & set(own) and all(map(self.base.is_rare, parts))
        )

    def _shaped(self, shape: str, words: list[str], rare: list[str], chance: np.random.Generator) -> Passage:
        if shape == "shortened":
            kept = chance.random(len(words)) < KEPT
            words = [word for word, stays in zip(words, kept, strict=True) if stays or word in rare[:FEWEST_RARE]]
        if shape in ("rare", "shuffled"):
            most = int(chance.integers(FEWEST, MOST + 1))
            best = set(sorted(rare, key=lambda word: (-self._rarity(word), word))[:most])
            words = [word for word in rare if word in best]
            if shape == "shuffled":
                words = [words[at] for at in chance.permutation(len(words))]
        said = " ".join(words)
        return Passage(said, text_words(said), shape in ("sentence", "shortened"))

    def _rarity(self, word: str) -> float:
        return max(map(self.base.rarity, text_words(word)), default=0.0)


def _stretch(words: list[str], chance: np.random.Generator) -> list[str]:
    """Return a sentence of at most `LONGEST_SENTENCE` words: its beginning, or a stretch from its middle."""
    if len(words) <= LONGEST_SENTENCE:
        return words
    length = int(chance.integers(LONGEST_SENTENCE // 2, LONGEST_SENTENCE + 1))
    first = 0 if chance.random() < 0.5 else int(chance.integers(len(words) - length + 1))
    return words[first : first + length]
