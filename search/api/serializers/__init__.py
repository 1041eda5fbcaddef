"""The requests and responses of the API, for its OpenAPI description.

These serializers do not check requests. The services do, and they name every fault.
"""

from search.api.serializers.answers import Facets, ListedAnswer
from search.api.serializers.basics import Fault, NodeReference, Problem, page_of, problems
from search.api.serializers.comparisons import Comparison
from search.api.serializers.feedback import Feedback, FeedbackRequest
from search.api.serializers.jobs import (
    CloneRequest,
    Job,
    JobKind,
    JobRequest,
    JobSummary,
    Schedule,
    ScheduleRequest,
)
from search.api.serializers.knowledge import KnowledgeBase, KnowledgeBaseSchema, Node
from search.api.serializers.pipelines import InUse, PipelineVersion, PipelineVersionRequest, SwitchRequest
from search.api.serializers.plans import CheckedPlan, Plan
from search.api.serializers.searches import Pipeline, Readiness, Search, SearchRequest
from search.api.serializers.uploads import Preview, PreviewRequest, UnpackLaunched, Upload, UploadRequest

__all__ = [
    "CheckedPlan",
    "CloneRequest",
    "Comparison",
    "Facets",
    "Fault",
    "Feedback",
    "FeedbackRequest",
    "InUse",
    "Job",
    "JobKind",
    "JobRequest",
    "JobSummary",
    "KnowledgeBase",
    "KnowledgeBaseSchema",
    "ListedAnswer",
    "Node",
    "NodeReference",
    "Pipeline",
    "PipelineVersion",
    "PipelineVersionRequest",
    "Plan",
    "Preview",
    "PreviewRequest",
    "Problem",
    "Readiness",
    "Schedule",
    "ScheduleRequest",
    "Search",
    "SearchRequest",
    "SwitchRequest",
    "UnpackLaunched",
    "Upload",
    "UploadRequest",
    "page_of",
    "problems",
]
