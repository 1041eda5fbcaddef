"""Django's admin: what people with rights look at, and the few things they change there, through the services."""

from search.admin import artifacts, endpoints, knowledge, people, pipelines, runs, tokens

__all__ = ["artifacts", "endpoints", "knowledge", "people", "pipelines", "runs", "tokens"]
