"""What a synthesised question asks for, before it is put into words: an answer type and conditions on the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace

from search.domain.graph import Direction
from search.domain.plan import Ask, Filter, Operator, Order


@dataclass(frozen=True, slots=True)
class MadeStep:
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
class MadeWay:
    """A condition on the answer: a way through the graph to a node that the question names or describes.

    `steps` begin at the answer. `ends` are the keys of all nodes that the words for the last node may mean. Its words
    are a name, or a passage of its text. A way that is excluded may have no end: then any node at its end counts.
    """

    steps: tuple[MadeStep, ...]
    ends: tuple[int, ...]
    name: str = ""
    passage: Passage | None = None


@dataclass(frozen=True, slots=True)
class MadeComparison:
    """A comparison of a field of the answer with the same field of a named node: `field op the field of name`.

    `keys` are the nodes of the type `node_type` (a code) that the name may mean.
    """

    field: str
    op: Operator
    keys: tuple[int, ...]
    node_type: int
    name: str


@dataclass(frozen=True, slots=True)
class MadeDraft:
    """A question before it is put into words: nodes of the type `answer_type` (a code) that meet every condition.

    `kind` is the row of `KINDS` that drew it. `about` is the key of the node that it was drawn from. `exclusions` are
    ways that no answer meets. A `bare` question says names and words of texts, and nothing else. Of the nodes that meet
    all conditions, those at the first places of `order` are answers.
    """

    kind: str
    about: int
    answer_type: int
    ways: tuple[MadeWay, ...] = ()
    filters: tuple[Filter, ...] = ()
    passage: Passage | None = None
    exclusions: tuple[MadeWay, ...] = ()
    compared: MadeComparison | None = None
    order: Order | None = None
    ask: Ask = "which"
    bare: bool = False

    @property
    def is_conditioned(self) -> bool:
        """Whether it asks for an exclusion, a comparison, an order, a number or the existence of something."""
        return bool(self.exclusions or self.compared or self.order or self.ask != "which")

    @property
    def has_text(self) -> bool:
        """Whether any condition is about a text."""
        return self.passage is not None or any(way.passage is not None for way in self.ways)

    def named(self, kind: str) -> MadeDraft:
        """Return the same draft as another kind."""
        return replace(self, kind=kind)
