"""Logging: one JSON object on each line for files, coloured text for people; neither contains secrets."""

import re
from collections.abc import MutableMapping
from typing import Any

import structlog

from search.services.jobs.captured import line_of

SECRET_KEYS = re.compile(r"password|passwd|secret|token|api_?key|authorization|cookie", re.IGNORECASE)
# Counts of a language model's tokens are numbers, not secrets.
FIGURE_KEYS = re.compile(r"(^|_)tokens$", re.IGNORECASE)
# The pattern begins at "://" and not at the scheme: otherwise every letter of a long word would start a new match
# attempt.
CREDENTIALS_IN_URL = re.compile(r"(?P<before>://[^\s:/@]*):[^\s@/]+@")
MASK = "***"


def hide_secrets(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: masks values under keys that name secrets, and passwords in URLs, at any depth."""
    return {key: _hidden(key, value) for key, value in event.items()}


def _hidden(key: str, value: Any) -> Any:
    if SECRET_KEYS.search(key) and not FIGURE_KEYS.search(key) and isinstance(value, (str, bytes)):
        return MASK
    if isinstance(value, str):
        return CREDENTIALS_IN_URL.sub(rf"\g<before>:{MASK}@", value)
    if isinstance(value, dict):
        return {inner: _hidden(str(inner), item) for inner, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_hidden(key, item) for item in value)
    return value


def drop_colours(_logger: Any, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """A structlog processor: removes uvicorn's second copy of its messages, which has terminal colours."""
    event.pop("color_message", None)
    return event


SHARED_PROCESSORS: list[Any] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
]


def configure_structlog() -> None:
    """Send structlog's messages through the standard library's loggers, so that one configuration controls both."""
    structlog.configure(
        processors=[*SHARED_PROCESSORS, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )


def logging_settings(level: str, as_json: bool, colours: bool = False) -> dict[str, Any]:
    """Return Django's LOGGING: everything to stderr in one format at `level`, verbose libraries only from WARNING."""
    if as_json:
        rendering: list[Any] = [
            structlog.processors.format_exc_info,
            hide_secrets,
            structlog.processors.JSONRenderer(default=str),
        ]
    else:
        # Rich tracebacks would show the values of local variables, which may be secrets or questions.
        plain = structlog.dev.plain_traceback
        rendering = [hide_secrets, structlog.dev.ConsoleRenderer(colors=colours, exception_formatter=plain)]
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "grasp": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*SHARED_PROCESSORS, structlog.stdlib.ExtraAdder()],
                "processors": [structlog.stdlib.ProcessorFormatter.remove_processors_meta, drop_colours, *rendering],
            },
            "job": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": [*SHARED_PROCESSORS, structlog.stdlib.ExtraAdder()],
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    drop_colours,
                    structlog.processors.format_exc_info,
                    hide_secrets,
                    line_of,
                ],
            },
        },
        "handlers": {
            "stderr": {"class": "logging.StreamHandler", "formatter": "grasp"},
            "job": {"class": "search.services.jobs.captured.JobHandler", "formatter": "job"},
        },
        "root": {"handlers": ["stderr", "job"], "level": level},
        "loggers": {
            # These loggers have their own handlers; an empty list removes them, so that the root logger writes.
            "django": {"handlers": [], "level": level, "propagate": True},
            "django.server": {"handlers": [], "level": level, "propagate": True},
            "uvicorn": {"handlers": [], "level": level, "propagate": True},
            "uvicorn.error": {"handlers": [], "level": level, "propagate": True},
            "uvicorn.access": {"handlers": [], "level": "WARNING", "propagate": True},
            # Two lines for each task say nothing that the row of its search does not say; failures are still logged.
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "httpx": {"level": "WARNING"},
            "httpx2": {"level": "WARNING"},
            "urllib3": {"level": "WARNING"},
            # At DEBUG they write the headers of each request to an object store, with its signature and session token.
            **{name: {"level": "WARNING"} for name in ("aiobotocore", "botocore", "s3fs", "fsspec")},
        },
    }
