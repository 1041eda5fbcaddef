"""What a synthesised question asks for, before it is put into words: an answer type and conditions on the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from search.domain.graph import Direction
from search.domain.plan import Filter


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a way, as seen from its end that is nearer to the answer.

    `relation` and `far_type` are codes. `directions` are the stored directions that fit, both where the relation says
    the same from either side.
    """

    relation: int
    directions: tuple[Direction, ...]
    far_type: int


@dataclass(frozen=True, slots=True)
class Passage:
    """Words of a text that describe a node, as they are put into the question.

    `words` are all of them in lower case: a node meets the passage if its text holds each of them. `sentence` says that
    `said` is a sentence in its own order, and not a list of words.
    """

    said: str
    words: frozenset[str]
    sentence: bool


@dataclass(frozen=True, slots=True)
class Way:
    """A condition on the answer: a way through the graph to a node that the question names or describes.

    `steps` begin at the answer. `ends` are the keys of all nodes that the words for the last node may mean. Its words
    are a name, or a passage of its text.
    """

    steps: tuple[Step, ...]
    ends: tuple[int, ...]
    name: str = ""
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class Draft:
    """A question before it is put into words: nodes of the type `answer_type` (a code) that meet every condition.

    `kind` is the row of `KINDS` that drew it. `about` is the key of the node that it was drawn from.
    """

    kind: str
    about: int
    answer_type: int
    ways: tuple[Way, ...] = ()
    filters: tuple[Filter, ...] = ()
    passage: Passage | None = None

    @property
    def has_text(self) -> bool:
        """Whether any condition is about a text."""
        return self.passage is not None or any(way.passage is not None for way in self.ways)

    def named(self, kind: str) -> Draft:
        """Return the same draft as another kind."""
        return replace(self, kind=kind)
