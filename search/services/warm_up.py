"""warm_up: prepares a search worker before it reports itself ready, so that no search waits for a model to load."""

from __future__ import annotations

import structlog
from django.conf import settings
from django.db.models import F

from search import wiring
from search.domain.errors import SearchError
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.models import Release
from search.neural.site_encoders import encoder
from search.services.garbage import leave_alone
from search.text import words

log = structlog.get_logger(__name__)

QUESTION = "What is there?"
THOROUGH = "Which new {kind} of {name} since 2001 that cost less than 20 euros are not like {name} or a quarzite?"
"""A question whose answering needs nearly everything that questions need: names, near names, conditions, the graph."""
_NAME = 80
WARM_UP_SECONDS = 10.0
"""No further release is warmed up after this time: a worker with one slow first search is better than none."""


def warm_up() -> None:
    """Load what searches need, and then have the garbage collector leave it alone."""
    _load()
    leave_alone()


def _load() -> None:
    """Load the encoders, and ask each active release one question, the newest first, that nobody sees the answer of.

    A release that cannot be searched is logged and skipped.
    """
    try:
        encoder().encode([QUESTION])
    except SearchError as error:
        log.warning("encoder of new releases not loaded", encoder=settings.GRASP_ENCODER, reason=str(error))
    limit = Limit.seconds(WARM_UP_SECONDS)
    pipeline = wiring.pipeline(settings.GRASP_DEFAULT_PIPELINE)
    # Nobody reads the answer, so no language model is called: it may cost money, or hang.
    quiet = {"plan.llm": "off"} if "plan.llm" in pipeline.options() else {}
    active = Release.objects.filter(pk=F("knowledge_base__active_release")).order_by("-activated")
    for release in active:
        if limit.remaining() <= 0:
            break
        try:
            tools = wiring.tools(release)
            stages = pipeline.compose(pipeline.specification(quiet), tools)
            pipeline.search(Question(_question(tools), k=1), stages, Trace(Limit.seconds(WARM_UP_SECONDS)))
        except (SearchError, OSError) as error:
            log.warning("release not warmed", release=release.name, reason=str(error))


def _question(tools: wiring.Tools) -> str:
    """Return a question that names a node of the release, if it has any."""
    if not tools.adjacency.size or not tools.schema.answerable:
        return QUESTION
    [node] = tools.nodes.references([tools.adjacency.size // 2])
    return THOROUGH.format(kind=words(tools.schema.answerable[0]), name=node.name[:_NAME])
