"""list_paths: all best paths of one result of a search, queried from the graph on request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from search import wiring
from search.domain.errors import StageError
from search.domain.trace import Limit
from search.models import SearchRun
from search.services.searches.describe_search import Outputs, outputs_of
from search.services.searches.recorded_plan import recorded_plan

MOST_PATHS = 50
"""Largest number of matches that are listed; a hub may have millions."""
PATHS_SECONDS = 2.0
"""Time limit in seconds of the graph query."""


@dataclass(frozen=True)
class Paths:
    """The matches of one result, best first, each with one path for each anchor, in the form of `evidence.paths`.

    `more` says that there are more than `MOST_PATHS`; `reason` is a sentence that explains
    why there are no paths, or empty.
    """

    result: dict[str, Any]
    plan_index: int | None = None
    matches: tuple[list[list[dict[str, Any]]], ...] = ()
    more: bool = False
    reason: str = ""


def list_paths(run: SearchRun, rank: int) -> Paths | None:
    """Return the paths of the result with this rank under the plan of its evidence; None without such a result."""
    output = outputs_of(run.steps.all())
    result = next((entry.to_json() for entry in output.results.entries if entry.rank == rank), None)
    if result is None:
        return None
    if not (result["evidence"] and result["evidence"]["paths"]):
        return Paths(result, reason="No path of a plan leads to this result; text retrieval found it.")
    index = result["evidence"]["plan_index"]
    if index >= len(output.plans.entries):
        return Paths(result, reason="This pipeline uses no plan; the paths that it found are shown with the result.")
    if run.release is None:
        return Paths(
            result, index, reason="The release that was searched has been deleted, so its paths cannot be shown."
        )
    try:
        return _asked(wiring.tools(run.release, run.settings_version), output, result, index)
    except StageError as error:
        return Paths(result, index, reason=f"The paths could not be looked up: {error.reason}.")


def _asked(tools: wiring.Tools, output: Outputs, result: dict[str, Any], index: int) -> Paths:
    [key] = tools.nodes.keys([result["node"]["id"]])
    if key is None:
        raise StageError("explain", "the release no longer has this entity", permanent=True)
    linked = recorded_plan(output, index, tools)
    found = tools.graph.paths(linked, [key], Limit.seconds(PATHS_SECONDS), MOST_PATHS + 1).get(key, [])
    matches = tuple([path.to_json() for path in match] for match in found[:MOST_PATHS])
    reason = "" if matches else "This result meets only a part of the plan; the paths of that part are shown above."
    return Paths(result, index, matches, len(found) > MOST_PATHS, reason)
