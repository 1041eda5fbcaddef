"""The kinds of synthesised questions, and how often each is made of a base.

A kind is a row here, a part of `Draft`, and its words in `speech`. The kinds of `CONDITIONED` ask for what no walk
through the graph can say alone: exclusions, orders, comparisons, numbers. The kinds of `BARE` say nothing of relations
and types, as people ask who do not know the base's structure; what scores walks can learn nothing from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from search.domain.plan import Ask
from training.data.synthesis.base import Base

_TEXT = 6.0
"""Weight of text against that of one bit of relations. With every node described, two relations give about four of five
questions to text, twelve about half, as people divide them on such bases."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A kind of question: the lengths of its ways, and what else it asks for.

    `source` says which share of the questions the kind belongs to, and `weight` how much of it. `described` says that
    the node at the end of the last way is described by its text instead of named. `exclude` is a way that no answer
    meets, to a `named` node or to `any`. `order` is by a `field` or a `count`. `compared` is a comparison with a named
    node. `bare` says that names and words of texts are all that is said: no word for a relation or a type.
    """

    kind: str
    source: Literal["graph", "text", "around", "fields", "conditions", "orders"]
    weight: float
    hops: tuple[int, ...] = ()
    text: bool = False
    filters: bool = False
    described: bool = False
    exclude: Literal["", "named", "any"] = ""
    order: Literal["", "field", "count"] = ""
    compared: bool = False
    ask: Ask = "which"
    bare: bool = False


KINDS = (
    Recipe("one hop", "graph", 1.0, (1,)),
    Recipe("two hops", "graph", 1.2, (2,)),
    Recipe("three hops", "graph", 1.2, (3,)),
    Recipe("two conditions", "graph", 0.3, (1, 1)),
    Recipe("two conditions, one of two hops", "graph", 0.15, (1, 2)),
    Recipe("three conditions", "graph", 0.1, (1, 1, 1)),
    Recipe("text", "text", 1.0, text=True),
    Recipe("one hop and text", "text", 0.8, (1,), text=True),
    Recipe("two hops and text", "text", 0.5, (2,), text=True),
    Recipe("one hop to a text", "text", 0.5, (1,), described=True),
    Recipe("two hops to a text", "text", 0.3, (2,), described=True),
    Recipe("one hop to a text, and text", "text", 0.3, (1,), text=True, described=True),
    Recipe("one hop and a field", "fields", 1.0, (1,), filters=True),
    Recipe("two hops and a field", "fields", 0.4, (2,), filters=True),
    Recipe("field", "fields", 0.4, filters=True),
    Recipe("field and text", "fields", 0.2, text=True, filters=True),
)

BARE = (
    Recipe("one hop in words", "around", 1.0, (1,), text=True, bare=True),
    Recipe("two hops in words", "around", 1.0, (2,), text=True, bare=True),
    Recipe("one and two hops in words", "around", 1.0, (1, 2), text=True, bare=True),
    Recipe("one and two hops in words, without a text", "around", 0.5, (1, 2), bare=True),
)
"""Questions in the words of texts and names alone."""
CONDITIONED = (
    Recipe("one hop, but not", "conditions", 1.0, (1,), exclude="named"),
    Recipe("two hops, but not", "conditions", 0.4, (2,), exclude="named"),
    Recipe("one hop, without any", "conditions", 0.8, (1,), exclude="any"),
    Recipe("without any", "conditions", 0.5, exclude="any"),
    Recipe("one hop, the most", "conditions", 0.8, (1,), order="count"),
    Recipe("the most", "conditions", 0.4, order="count"),
    Recipe("how many, one hop", "conditions", 0.8, (1,), ask="how many"),
    Recipe("how many, two hops", "conditions", 0.4, (2,), ask="how many"),
    Recipe("how many, two conditions", "conditions", 0.2, (1, 1), ask="how many"),
    Recipe("whether, two conditions", "conditions", 0.3, (1, 1), ask="whether"),
    Recipe("one hop, the first by a field", "orders", 1.0, (1,), order="field"),
    Recipe("two hops, the first by a field", "orders", 0.3, (2,), order="field"),
    Recipe("the first by a field", "orders", 0.6, order="field"),
    Recipe("one hop, compared", "orders", 0.6, (1,), compared=True),
    Recipe("compared", "orders", 0.6, compared=True),
    Recipe("field, but not", "orders", 0.3, filters=True, exclude="named"),
    Recipe("how many, field", "orders", 0.4, filters=True, ask="how many"),
)
_CONDITIONS, _ORDERS = 0.5, 0.5
"""Weights of `conditions` against the graph, and of `orders` against the share of fields."""


def shares_of(base: Base, filterable: float, kinds: Sequence[Recipe] = KINDS) -> list[float]:
    """Return the share of each kind, in the order of `kinds`, by the structure of a base.

    `filterable` is the share of answers with a field that may be asked about. The graph weighs the more, the more
    relations there are to tell apart; text weighs as many nodes as have one. Questions in bare words weigh as much as
    text divided by the number of relations: where there are few, people need not say which of them they mean. A base
    that has nothing of all gives 0s.
    """
    graph = base.edge_share * math.log2(1 + base.relation_types())
    text = _TEXT * base.text_share
    fields = filterable * (graph + text) / 4 or filterable
    around = text * base.edge_share / max(1, base.relation_types())
    orders = _ORDERS * filterable * (graph + text) / 2 or filterable
    weights = {
        "graph": graph,
        "text": text,
        "around": around,
        "fields": fields,
        "conditions": _CONDITIONS * graph,
        "orders": orders,
    }
    whole = {source: sum(one.weight for one in kinds if one.source == source) for source in weights}
    shares = [weights[one.source] * one.weight / whole[one.source] for one in kinds]
    shares = [0.0 if one.hops and not base.edge_share else share for one, share in zip(kinds, shares, strict=True)]
    total = sum(shares)
    return [share / total for share in shares] if total else shares
