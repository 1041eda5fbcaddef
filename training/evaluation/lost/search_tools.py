"""The tools of a release that an attribution needs."""

from __future__ import annotations

from typing import Protocol

from search.domain.graph import Schema
from search.interfaces import Adjacency, Columns, Encoder, GraphStore, MentionIndex, NodeStore, VectorIndex


class SearchTools(Protocol):
    """What `search.wiring.tools` returns, as far as an attribution uses it."""

    @property
    def schema(self) -> Schema: ...
    @property
    def nodes(self) -> NodeStore: ...
    @property
    def graph(self) -> GraphStore: ...
    @property
    def vectors(self) -> VectorIndex: ...
    @property
    def mentions(self) -> MentionIndex: ...
    @property
    def adjacency(self) -> Adjacency: ...
    @property
    def encoder(self) -> Encoder: ...
    @property
    def columns(self) -> Columns: ...
