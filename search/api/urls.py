"""URLs of the API, below /api/v1/."""

from __future__ import annotations

from django.urls import path, re_path, register_converter

from search.api.answers import SearchAnswers, SearchFacets
from search.api.comparisons import SearchComparison
from search.api.events import SearchEvents
from search.api.feedback import SearchFeedback
from search.api.health import Alive, Ready
from search.api.ids import AnythingConverter
from search.api.job_events import JobEvents
from search.api.job_schedules import JobScheduleDetail, JobSchedules
from search.api.jobs import JobCancel, JobClone, JobDetail, JobKinds, JobResume, Jobs
from search.api.knowledge_bases import KnowledgeBaseDetail, KnowledgeBases, NodeDetail, Nodes
from search.api.pipeline_versions import PipelineRollBack, PipelineVersionActivate, PipelineVersions
from search.api.pipelines import Pipelines
from search.api.plans import PlanCheck
from search.api.problems import not_found
from search.api.searches import SearchCancel, SearchDetail, Searches
from search.api.tus import UploadFileDetail, UploadFiles
from search.api.uploads import UploadDetail, UploadPreview, Uploads, UploadUnpack

register_converter(AnythingConverter, "anything")

app_name = "api"
urlpatterns = [
    path("knowledge-bases/", KnowledgeBases.as_view(), name="knowledge-bases"),
    path("knowledge-bases/<str:name>/", KnowledgeBaseDetail.as_view(), name="knowledge-base"),
    path("knowledge-bases/<str:name>/nodes/", Nodes.as_view(), name="nodes"),
    path("knowledge-bases/<str:name>/nodes/<anything:node_id>/", NodeDetail.as_view(), name="node"),
    path("knowledge-bases/<str:name>/plans/check/", PlanCheck.as_view(), name="plan-check"),
    path("pipelines/", Pipelines.as_view(), name="pipelines"),
    path("pipelines/<str:name>/versions/", PipelineVersions.as_view(), name="pipeline-versions"),
    path(
        "pipelines/<str:name>/versions/<int:version>/activate/",
        PipelineVersionActivate.as_view(),
        name="pipeline-version-activate",
    ),
    path("pipelines/<str:name>/rollback/", PipelineRollBack.as_view(), name="pipeline-rollback"),
    path("searches/", Searches.as_view(), name="searches"),
    path("searches/compare/", SearchComparison.as_view(), name="searches-compare"),
    path("searches/<uuid:run_id>/", SearchDetail.as_view(), name="search"),
    path("searches/<uuid:run_id>/events/", SearchEvents.as_view(), name="search-events"),
    path("searches/<uuid:run_id>/answers/", SearchAnswers.as_view(), name="search-answers"),
    path("searches/<uuid:run_id>/facets/", SearchFacets.as_view(), name="search-facets"),
    path("searches/<uuid:run_id>/cancel/", SearchCancel.as_view(), name="search-cancel"),
    path("uploads/", Uploads.as_view(), name="uploads"),
    path("uploads/<uuid:upload_id>/", UploadDetail.as_view(), name="upload"),
    path("uploads/<uuid:upload_id>/unpack/", UploadUnpack.as_view(), name="upload-unpack"),
    path("uploads/<uuid:upload_id>/preview/", UploadPreview.as_view(), name="upload-preview"),
    path("uploads/<uuid:upload_id>/files/", UploadFiles.as_view(), name="upload-files"),
    path("uploads/<uuid:upload_id>/files/<uuid:file_id>/", UploadFileDetail.as_view(), name="upload-file"),
    path("jobs/", Jobs.as_view(), name="jobs"),
    path("jobs/<uuid:job_id>/", JobDetail.as_view(), name="job"),
    path("jobs/<uuid:job_id>/cancel/", JobCancel.as_view(), name="job-cancel"),
    path("jobs/<uuid:job_id>/resume/", JobResume.as_view(), name="job-resume"),
    path("jobs/<uuid:job_id>/clone/", JobClone.as_view(), name="job-clone"),
    path("jobs/<uuid:job_id>/events/", JobEvents.as_view(), name="job-events"),
    path("job-kinds/", JobKinds.as_view(), name="job-kinds"),
    path("job-schedules/", JobSchedules.as_view(), name="job-schedules"),
    path("job-schedules/<int:schedule_id>/", JobScheduleDetail.as_view(), name="job-schedule"),
    path("searches/<uuid:run_id>/feedback/", SearchFeedback.as_view(), name="search-feedback"),
    path("healthz/", Alive.as_view(), name="healthz"),
    path("readyz/", Ready.as_view(), name="readyz"),
    # A URL without its last slash is left to Django, which redirects the caller to the URL with the slash.
    re_path(r"^(?:.*/)?$", not_found, name="nothing"),
]
