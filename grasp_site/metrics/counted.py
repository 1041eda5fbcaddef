"""The metrics that are counted as things happen. Their labels are names of the code and of the site's settings.

No label holds a question, an account, an address or an id, so that the number of series is bounded.
"""

from __future__ import annotations

from prometheus_client import Counter, Histogram

from grasp_site.metrics.files import share_values

SHARED = share_values()
"""Whether the values are in files, so that those of all processes of this machine can be read together."""
SEARCH_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 10.0, 20.0, 30.0)
STAGE_SECONDS = (0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
REQUEST_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0)
JOB_SECONDS = (1.0, 10.0, 60.0, 300.0, 900.0, 3600.0, 14400.0, 43200.0)

searches = Histogram(
    "grasp_search_seconds",
    "Seconds of a search in its worker, by pipeline and how it ended. Searches of evaluations are not counted.",
    ["pipeline", "status"],
    buckets=SEARCH_SECONDS,
)
waited = Histogram(
    "grasp_search_wait_seconds", "Seconds from the request of a search to its start.", buckets=SEARCH_SECONDS
)
stages = Histogram(
    "grasp_stage_seconds", "Seconds of a stage of a search.", ["pipeline", "stage"], buckets=STAGE_SECONDS
)
degraded = Counter(
    "grasp_degraded_stages", "Stages that gave less than they should, or failed.", ["pipeline", "stage", "status"]
)
jobs = Histogram(
    "grasp_job_seconds",
    "Seconds that a process worked on a job, by kind and the job's state afterwards.",
    ["kind", "state"],
    buckets=JOB_SECONDS,
)
lost_leases = Counter("grasp_lost_leases", "Jobs that went on elsewhere because their lease was lost.", ["kind"])
model_calls = Counter("grasp_model_calls", "Calls of language models.", ["model", "purpose", "outcome"])
model_seconds = Histogram("grasp_model_seconds", "Seconds of a call of a language model.", ["model"])
model_tokens = Counter("grasp_model_tokens", "Tokens by kind; cached ones are in prompt too.", ["model", "kind"])
model_price = Counter("grasp_model_price", "Price of the calls, by GRASP_LLM_PRICES.", ["model", "currency"])
refused = Counter("grasp_refused_searches", "Requests of searches that were refused.", ["door", "kind"])
evaluated = Counter("grasp_evaluated_searches", "Searches of evaluations.", ["pipeline", "status"])
requests = Histogram(
    "grasp_request_seconds",
    "Seconds of a request of the web process, by address pattern and class of status.",
    ["view", "method", "status"],
    buckets=REQUEST_SECONDS,
)
