"""Rows: what is stored of knowledge bases, runs and pipelines."""

from search.models.access import ApiToken
from search.models.artifacts import Artifact
from search.models.audit import AuditEntry
from search.models.collections import Collection, CollectionItem, SavedSearch
from search.models.endpoints import Endpoint, LanguageModelCall
from search.models.feedback import Feedback
from search.models.index_folders import IndexFolder
from search.models.jobs import Job, JobLog, JobMetric, JobSchedule
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
from search.models.upkeep import BackupRun, RefusedRequests, RetentionRun
from search.models.uploads import ServerFolder, Upload, UploadFile

__all__ = [
    "ApiToken",
    "Artifact",
    "AuditEntry",
    "BackupRun",
    "Collection",
    "CollectionItem",
    "Edge",
    "Endpoint",
    "Feedback",
    "IndexFolder",
    "Job",
    "JobLog",
    "JobMetric",
    "JobSchedule",
    "KnowledgeBase",
    "KnowledgeBaseSettings",
    "LanguageModelCall",
    "Node",
    "PipelineVersion",
    "RefusedRequests",
    "Release",
    "RetentionRun",
    "SavedSearch",
    "SearchRun",
    "SearchStep",
    "ServerFolder",
    "Snapshot",
    "Upload",
    "UploadFile",
    "Vector",
    "VectorSet",
]
