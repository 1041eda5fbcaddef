"""The requests and responses of the API, for its OpenAPI description.

These serializers do not check requests. The services do, and they name every fault.
"""

from search.api.serializers.answers import FacetsSerializer, ListedAnswerSerializer
from search.api.serializers.basics import FaultSerializer, NodeReferenceSerializer, ProblemSerializer, page_of, problems
from search.api.serializers.comparisons import ComparisonSerializer
from search.api.serializers.feedback import FeedbackRequestSerializer, FeedbackSerializer
from search.api.serializers.jobs import (
    CloneRequestSerializer,
    JobKindSerializer,
    JobRequestSerializer,
    JobSerializer,
    JobSummarySerializer,
    ScheduleRequestSerializer,
    ScheduleSerializer,
)
from search.api.serializers.knowledge import KnowledgeBaseSchemaSerializer, KnowledgeBaseSerializer, NodeSerializer
from search.api.serializers.pipelines import (
    InUseSerializer,
    PipelineVersionRequestSerializer,
    PipelineVersionSerializer,
    SwitchRequestSerializer,
)
from search.api.serializers.plans import CheckedPlanSerializer, PlanSerializer
from search.api.serializers.searches import (
    PipelineSerializer,
    ReadinessSerializer,
    SearchRequestSerializer,
    SearchSerializer,
)
from search.api.serializers.uploads import (
    PreviewRequestSerializer,
    PreviewSerializer,
    UnpackLaunchedSerializer,
    UploadRequestSerializer,
    UploadSerializer,
)

__all__ = [
    "CheckedPlanSerializer",
    "CloneRequestSerializer",
    "ComparisonSerializer",
    "FacetsSerializer",
    "FaultSerializer",
    "FeedbackRequestSerializer",
    "FeedbackSerializer",
    "InUseSerializer",
    "JobKindSerializer",
    "JobRequestSerializer",
    "JobSerializer",
    "JobSummarySerializer",
    "KnowledgeBaseSchemaSerializer",
    "KnowledgeBaseSerializer",
    "ListedAnswerSerializer",
    "NodeReferenceSerializer",
    "NodeSerializer",
    "PipelineSerializer",
    "PipelineVersionRequestSerializer",
    "PipelineVersionSerializer",
    "PlanSerializer",
    "PreviewRequestSerializer",
    "PreviewSerializer",
    "ProblemSerializer",
    "ReadinessSerializer",
    "ScheduleRequestSerializer",
    "ScheduleSerializer",
    "SearchRequestSerializer",
    "SearchSerializer",
    "SwitchRequestSerializer",
    "UnpackLaunchedSerializer",
    "UploadRequestSerializer",
    "UploadSerializer",
    "page_of",
    "problems",
]
