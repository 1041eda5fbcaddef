"""Settings of a site whose jobs are those of `tests.job_kinds`, for processes that tests start."""

import os

from grasp_site.settings import *  # noqa: F403
from grasp_site.settings import GRASP_JOBS as SITE_JOBS

GRASP_JOBS = {
    **SITE_JOBS,
    "count": {"TITLE": "Count", "KIND": "tests.job_kinds.CountJob", "QUEUE": "jobs"},
    "stuck": {"TITLE": "Stuck", "KIND": "tests.job_kinds.StuckJob", "QUEUE": "jobs"},
    "noting": {"TITLE": "Noting", "KIND": "tests.job_kinds.NotingJob", "QUEUE": "jobs"},
    "parent": {"TITLE": "Parent", "KIND": "tests.job_kinds.ParentJob", "QUEUE": "jobs"},
}
GRASP_JOB_LEASE_SECONDS = 3
GRASP_JOB_ATTEMPTS = int(os.environ.get("DEATHS", "1000"))
