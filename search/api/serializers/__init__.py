"""The requests and responses of the API, for its OpenAPI description.

These serializers do not check requests. The services do, and they name every fault.
"""

from search.api.serializers.basics import Fault, NodeReference, Problem, page_of, problems
from search.api.serializers.knowledge import KnowledgeBase, KnowledgeBaseSchema, Node
from search.api.serializers.plans import CheckedPlan, Plan
from search.api.serializers.searches import Pipeline, Readiness, Search, SearchRequest
from search.api.serializers.uploads import Preview, PreviewRequest, UnpackLaunched, Upload, UploadRequest

__all__ = [
    "CheckedPlan",
    "Fault",
    "KnowledgeBase",
    "KnowledgeBaseSchema",
    "Node",
    "NodeReference",
    "Pipeline",
    "Plan",
    "Preview",
    "PreviewRequest",
    "Problem",
    "Readiness",
    "Search",
    "SearchRequest",
    "UnpackLaunched",
    "Upload",
    "UploadRequest",
    "page_of",
    "problems",
]
