"""The tools that questions are made with."""

from __future__ import annotations

from typing import Protocol

from search.domain.graph import Schema
from search.interfaces import Adjacency, MentionIndex, NodeStore, TextIndex


class SynthesisTools(Protocol):
    """The tools of a release from which questions are made; no model is among them."""

    @property
    def schema(self) -> Schema: ...
    @property
    def adjacency(self) -> Adjacency: ...
    @property
    def nodes(self) -> NodeStore: ...
    @property
    def mentions(self) -> MentionIndex: ...
    @property
    def text(self) -> TextIndex: ...
