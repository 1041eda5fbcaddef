"""The progress of a search: its recorded steps and the stages that follow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.conversation import NO_MODEL
from search.views.shown.model_use import step_tokens

Json = Mapping[str, Any]

WIDTH = 1000.0
"""Width of the waterfall, in units of the drawing."""
STATUS_WORDINGS = {
    "ok": "done",
    "degraded": "with less than usual",
    "plain": "without a language model",
    "failed": "failed",
    "skipped": "not used",
    "current": "working",
    "waiting": "waiting",
    "missing": "not reached",
    "queued": "before the search began",
}


@dataclass(frozen=True, slots=True)
class ShownStep:
    """A step; `x` and `width` place its bar in a waterfall `WIDTH` units wide.

    `tokens` gives the tokens and calls of a language model in words, `prompt` the version of its prompt; both may be
    empty.
    """

    name: str
    role: str
    title: str
    doing: str
    status: str
    word: str
    backend: str = ""
    milliseconds: float | None = None
    detail: str = ""
    x: float = 0.0
    width: float = 0.0
    tokens: str = ""
    prompt: str = ""


def without_model(step: Json) -> bool:
    """Whether a step did its work without a language model only because the site has none: nothing is wrong then."""
    return step["status"] == "degraded" and NO_MODEL in step["detail"].lower()


def show_steps(search: Json, waited: float = 0.0) -> tuple[ShownStep, ...]:
    """Return the steps of a described search: the recorded ones, then those of the flow still to come.

    `waited` are seconds for which the search waited for a worker. If given, they are the first step.
    """
    recorded = search["steps"]
    total = (waited + sum(step["seconds"] for step in recorded)) or 1.0
    shown: list[ShownStep] = []
    elapsed = waited
    if waited:
        wait = round(max(WIDTH * waited / total, 2.0), 1)
        shown.append(
            ShownStep(
                "queue", "", "Waiting", "", "queued", STATUS_WORDINGS["queued"], milliseconds=1000 * waited, width=wait
            )
        )
    for step in recorded:
        status = "plain" if without_model(step) else step["status"]
        shown.append(
            ShownStep(
                step["name"], step["role"], step["title"], "", status,
                STATUS_WORDINGS.get(status, status), _short(step["backend"]),
                None if step["status"] == "skipped" else 1000 * step["seconds"], step["detail"],
                round(WIDTH * elapsed / total, 1),
                0.0 if step["status"] == "skipped" else round(max(WIDTH * step["seconds"] / total, 2.0), 1),
                step_tokens(step.get("tokens") or {}), step.get("prompt_fingerprint", ""),
            )
        )  # fmt: skip
        elapsed += step["seconds"]
    return (*shown, *_to_come(search))


def _to_come(search: Json) -> Sequence[ShownStep]:
    """Return the stages of the flow after the furthest recorded step; empty when the search is done.

    Stages before that step that were not recorded will not run. A step whose name is not in the flow counts as the
    last stage of its role. Recovery is left out, because it runs only if nothing was found.
    """
    if search["status"] == "done":
        return ()
    flow = search["pipeline"]["flow"]
    furthest = max((_place(step, flow) for step in search["steps"]), default=-1)
    ahead = [part for part in flow[furthest + 1 :] if part["role"] != "recover"]
    states = {"queued": ["waiting"] * len(ahead), "running": ["current"] + ["waiting"] * len(ahead)}
    statuses = states.get(search["status"], ["missing"] * len(ahead))
    return [
        ShownStep(part["name"], part["role"], part["title"], part["doing"], status, STATUS_WORDINGS[status])
        for part, status in zip(ahead, statuses, strict=False)
    ]


def _place(step: Json, flow: Sequence[Json]) -> int:
    """Return the position of a recorded step in the flow, or -1 if it has none."""
    named = [place for place, part in enumerate(flow) if part["name"] == step["name"]]
    alike = [place for place, part in enumerate(flow) if part["role"] == step["role"]]
    return (named or alike or [-1])[-1]


def _short(backend: str) -> str:
    """Return the last part of a dotted path; names of models and engines stay unchanged."""
    return backend.rsplit(".", 1)[-1] if backend.startswith(("search.", "training.")) else backend
