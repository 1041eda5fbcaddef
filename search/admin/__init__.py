"""Django's admin: the pages that people with rights read, and the few changes they make there, through services."""

from search.admin import (
    artifacts,
    audit,
    backups,
    endpoints,
    feedback,
    folders,
    jobs,
    knowledge,
    people,
    pipelines,
    runs,
    schedules,
    tokens,
)

__all__ = [
    "artifacts", "audit", "backups", "endpoints", "feedback", "folders", "jobs", "knowledge", "people", "pipelines",
    "runs", "schedules", "tokens",
]  # fmt: skip
