"""Protocols of the stages and of the tools. Stages and pipelines depend only on these protocols.

A node is identified by its key, an int: its position in the snapshot, in the bytewise order of ids. Vectors are
unit-length float32 arrays, so that a dot product is a cosine.
"""

from search.interfaces.arrays import Keys, VectorKind, Vectors
from search.interfaces.indexes import (
    How,
    KindMatrix,
    Mention,
    MentionIndex,
    TextIndex,
    ValueIndex,
    ValueMention,
    VectorIndex,
)
from search.interfaces.learned import (
    FieldQuery,
    FieldRetriever,
    FieldRetrievers,
    PlanScorer,
    PlanScorers,
    PlanTable,
    Ranker,
    Rankers,
    Scorer,
    Scorers,
)
from search.interfaces.stages import (
    CheckStage,
    ExplainStage,
    FuseStage,
    LinkStage,
    MergeStage,
    PlanStage,
    RecoverStage,
    RerankStage,
    RescoreStage,
    RetrieveStage,
    TraverseStage,
)
from search.interfaces.tools import Adjacency, Encoder, GraphStore, LanguageModel, NodeStore

__all__ = [
    "Adjacency",
    "CheckStage",
    "Encoder",
    "ExplainStage",
    "FieldQuery",
    "FieldRetriever",
    "FieldRetrievers",
    "FuseStage",
    "GraphStore",
    "How",
    "Keys",
    "KindMatrix",
    "LanguageModel",
    "LinkStage",
    "Mention",
    "MentionIndex",
    "MergeStage",
    "NodeStore",
    "PlanScorer",
    "PlanScorers",
    "PlanStage",
    "PlanTable",
    "Ranker",
    "Rankers",
    "RecoverStage",
    "RerankStage",
    "RescoreStage",
    "RetrieveStage",
    "Scorer",
    "Scorers",
    "TextIndex",
    "TraverseStage",
    "ValueIndex",
    "ValueMention",
    "VectorIndex",
    "VectorKind",
    "Vectors",
]
