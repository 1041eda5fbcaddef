"""attribute: find the stage of a recorded search that lost each expected answer."""

from __future__ import annotations

from collections.abc import Sequence

from search import wiring
from search.domain.errors import SearchCancelled, SearchError
from search.domain.payloads import Listed, UnreadablePayload
from search.domain.ranking import RECORDED_ENTRIES
from search.domain.trace import Limit
from search.models import SearchRun
from search.models.knowledge import BuildStatus
from search.services.searches.request_search import question_of
from training.evaluation.lost import TOP, Attribution, FoundNode, described
from training.evaluation.lost.facts import Held, RunFacts
from training.evaluation.lost.recorded import RecordedStep, held
from training.services.attribution_facts import FactFinder
from training.services.replay import ReplayedSearch

SECONDS = 10.0
"""Longest time in seconds for the attribution of one question."""
FOUND_SHOWN = 10
"""Number of the first results that are kept beside the expected answers."""
UNREAD_ROLES = ("check", "explain")
"""Roles of steps after the last list; their outputs are large and not needed."""


def attribute(
    run: SearchRun,
    expected: Sequence[str],
    *,
    k: int = TOP,
    limit: Limit | None = None,
    steps: Sequence[RecordedStep] | None = None,
) -> Attribution:
    """Return where the expected answers (node ids) of a finished search were lost.

    The search is repeated with its own release, settings and specification where its recorded lists were cut, so call
    this right after the search, while its tools are in memory. `k` is the length of the top of a ranking, from 1 to
    100. If the search failed, or its release or its steps are gone, the attribution says so. `steps` are the steps of a
    search that is not stored yet; those of the roles `UNREAD_ROLES` may be missing.

    Raises ValueError if `k` is out of range or no answer is expected, SearchCancelled if `limit` says so.
    """
    answers = _checked(expected, k)
    ranking = (run.answer or {}).get("ranking") or {}
    listed = Listed(tuple(ranking.get("ids", ())), tuple(ranking.get("scores", ())), ranking.get("total", 0))
    if run.status != SearchRun.Status.DONE:
        why = str((run.error or {}).get("detail") or f"The search is {run.status}.")
        return failed(answers, why, k)
    if run.release is None or run.release.status == BuildStatus.DROPPED:
        return undecided(answers, listed, k, "The release that was searched has been dropped.")
    limit = limit or Limit.seconds(SECONDS)
    try:
        tools = wiring.tools(run.release, run.settings_version)
        pipeline = wiring.pipeline(run.pipeline)
        stages = pipeline.compose(run.specification, tools)
        if steps is None:
            steps = list(run.steps.exclude(role__in=UNREAD_ROLES))
        search = ReplayedSearch(question_of(run, tools.schema), steps, listed, pipeline, stages, tools)
        return attribute_search(search, answers, k=k, limit=limit)
    except SearchCancelled:
        raise
    except (SearchError, UnreadablePayload, KeyError, ImportError, OSError) as error:
        return undecided(answers, listed, k, f"The search cannot be examined: {error}")


def attribute_search(search: ReplayedSearch, expected: Sequence[str], *, k: int = TOP, limit: Limit) -> Attribution:
    """Return where the expected answers of a search were lost, whatever holds its record; see `attribute`.

    Raises StageError if a tool does not answer, DeadlineExceeded, SearchCancelled, UnreadablePayload.
    """
    answers = _checked(expected, k)
    findings = FactFinder(search, answers, k, limit).findings()
    return described(findings.facts, k, _first_results(search, answers), findings.plan, findings.no_plan)


def _checked(expected: Sequence[str], k: int) -> tuple[str, ...]:
    """Return the expected answers, each once. Raises ValueError."""
    if not 1 <= k <= RECORDED_ENTRIES:
        raise ValueError(f"k is a number of results from 1 to {RECORDED_ENTRIES}, not {k}.")
    if not expected:
        raise ValueError("A question without expected answers cannot have lost any.")
    return tuple(dict.fromkeys(expected))


def failed(answers: Sequence[str], why: str, k: int = TOP) -> Attribution:
    """Return the attribution of a search that failed, or that was refused before it began."""
    return described(RunFacts(tuple(dict.fromkeys(answers)), {}, Held("answer"), failed=why), k)


def undecided(answers: tuple[str, ...], listed: Listed, k: int, why: str) -> Attribution:
    """Return the attribution of a search of which only the answer is known."""
    facts = RunFacts(answers, {}, held("answer", listed, answers), unsure=why)
    found = enumerate(listed.ids[:FOUND_SHOWN], 1)
    return described(facts, k, tuple(FoundNode(rank, one, "", "", one in answers) for rank, one in found))


def _first_results(search: ReplayedSearch, answers: Sequence[str]) -> tuple[FoundNode, ...]:
    ids = search.answer.ids[:FOUND_SHOWN]
    keys = [key for key in search.tools.nodes.keys(ids) if key is not None]
    nodes = search.tools.nodes.references(keys)
    return tuple(FoundNode(rank, one.id, one.name, one.type, one.id in answers) for rank, one in enumerate(nodes, 1))
