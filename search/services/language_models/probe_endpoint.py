"""probe_endpoint: tests a server: its list of models, a short answer, and an answer under a JSON schema."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from django.utils import timezone

from search.adapters.llm_openai import ConfiguredLanguageModel, Server, environment_server, server_of
from search.adapters.llm_openai.configured import list_models
from search.domain.conversation import Completion, Message, Prompt
from search.domain.errors import StageError
from search.domain.model_reply import UnreadableReply, read_object
from search.domain.trace import Limit
from search.models import Endpoint
from search.services.language_models.llm_calls import RecordedCalls

PROBE_SECONDS = 30.0
"""Default time limit of a probe."""
MOST_MODELS = 50
"""Names of models that a report lists."""
_SCHEMA = {
    "type": "object",
    "properties": {"planet": {"type": "string", "enum": ["Neptune"]}, "moons": {"type": "integer", "enum": [14]}},
    "required": ["planet", "moons"],
    "additionalProperties": False,
}
"""The prompt asks for a different planet, so only a model that is held to the schema gives this answer."""


@dataclass(frozen=True)
class EndpointReport:
    """The result of a probe; `error` is a sentence if the server gave no answer, otherwise empty.

    `structured` is None if structured output was not tested; `structured_note` says what the server answered instead.
    `seconds` is the time of the short answer.
    """

    models: list[str] = field(default_factory=list)
    models_note: str = ""
    listed: bool = False
    seconds: float | None = None
    answer: str = ""
    structured: bool | None = None
    structured_note: str = ""
    error: str = ""
    when: str = ""

    @property
    def works(self) -> bool:
        """Whether the model answered."""
        return not self.error and self.seconds is not None


class _Fresh(RecordedCalls):
    """Records calls, but finds no stored answers: a probe must reach the server."""

    def find(self, server: Server, prompt: Prompt) -> Completion | None:
        return None


def probe_endpoint(endpoint: Endpoint, *, seconds: float = PROBE_SECONDS) -> EndpointReport:
    """Probe an endpoint's server within `seconds`, store the report in its row, and return it."""
    try:
        report = probe_server(server_of(endpoint), seconds=seconds)
    except StageError as error:
        report = EndpointReport(error=error.reason, when=_now())
    Endpoint.objects.filter(pk=endpoint.pk).update(tested=asdict(report))
    endpoint.tested = asdict(report)
    return report


def probe_environment(*, seconds: float = PROBE_SECONDS) -> EndpointReport | None:
    """Probe the server of the environment; return None if there is none."""
    server = environment_server()
    return None if server is None else probe_server(server, seconds=seconds)


def probe_server(server: Server, *, seconds: float = PROBE_SECONDS) -> EndpointReport:
    """Probe a server within `seconds`. It raises nothing: errors are in the report."""
    limit = Limit.seconds(seconds)
    found: dict[str, Any] = {"when": _now()}
    try:
        listed = list_models(server, limit.share(0.3))
    except StageError as error:
        found["models_note"] = error.reason
    else:
        found |= {"models": sorted(listed)[:MOST_MODELS], "listed": server.model in listed}
        if not found["listed"]:
            found["models_note"] = f"{server.model!r} is not among the {len(listed)} models that the server lists."
    model = ConfiguredLanguageModel(_Fresh(), server)
    word = Prompt((Message("user", "Answer with the single word: ready"),), purpose="test")
    answer = _ask(model, word, limit)
    if isinstance(answer, StageError):
        return EndpointReport(**found, error=answer.reason)
    found |= {"seconds": answer.seconds, "answer": answer.text[:200]}
    return EndpointReport(**found, **_structured(model, server, limit))


def _structured(model: ConfiguredLanguageModel, server: Server, limit: Limit) -> dict[str, Any]:
    if server.structured == "off":
        return {"structured_note": "Structured output is switched off for this endpoint."}
    said = "Name a planet with rings that is not Neptune, and how many moons it has, as JSON."
    answer = _ask(model, Prompt((Message("user", said),), purpose="test", json_schema=_SCHEMA), limit)
    if isinstance(answer, StageError):
        return {"structured": False, "structured_note": answer.reason}
    try:
        held = read_object(answer.text) == {"planet": "Neptune", "moons": 14}
    except UnreadableReply:
        held = False
    note = "" if held else "The server takes the request, but the model's answer does not follow the schema."
    return {"structured": held, "structured_note": note}


def _ask(model: ConfiguredLanguageModel, prompt: Prompt, limit: Limit) -> Completion | StageError:
    try:
        return model.complete([prompt], limit)[0]
    except StageError as error:
        return error


def _now() -> str:
    return timezone.now().isoformat(timespec="seconds")
