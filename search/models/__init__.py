"""Rows: what is stored of knowledge bases, runs and pipelines."""

from search.models.artifacts import Artifact
from search.models.endpoints import Endpoint, LanguageModelCall
from search.models.knowledge import (
    Edge,
    KnowledgeBase,
    KnowledgeBaseSettings,
    Node,
    Release,
    Snapshot,
    Vector,
    VectorSet,
)
from search.models.pipelines import PipelineVersion
from search.models.runs import SearchRun, SearchStep

__all__ = [
    "Artifact",
    "Edge",
    "Endpoint",
    "KnowledgeBase",
    "KnowledgeBaseSettings",
    "LanguageModelCall",
    "Node",
    "PipelineVersion",
    "Release",
    "SearchRun",
    "SearchStep",
    "Snapshot",
    "Vector",
    "VectorSet",
]
