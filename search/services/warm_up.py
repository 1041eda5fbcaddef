"""warm_up: prepares a search worker before it reports itself ready, so that no search waits for a model to load."""

from __future__ import annotations

import gc
import time

import structlog
from django.conf import settings
from django.db.models import F

from search import wiring
from search.domain.errors import SearchError
from search.domain.question import Question
from search.domain.trace import Limit, Trace
from search.models import Release
from search.neural.site_encoders import encoder

log = structlog.get_logger(__name__)

QUESTION = "What is there?"
WARM_UP_SECONDS = 10.0
"""No further release is warmed up after this time: a worker with one slow first search is better than none."""
GC_THRESHOLDS = (20_000, 20, 50)
"""Thresholds of Python's garbage collector in a search worker (see `gc.set_threshold`). A search creates tens of
thousands of small objects without cycles. With Python's own thresholds they are looked through hundreds of times a
search, which takes a seventh of its processor time."""


def warm_up() -> None:
    """Load what searches need, and then have the garbage collector leave it alone."""
    _load()
    gc.collect()
    gc.freeze()
    gc.set_threshold(*GC_THRESHOLDS)


def _load() -> None:
    """Load the encoders, and ask each active release one question, the newest first, that nobody sees the answer of.

    A release that cannot be searched is logged and skipped.
    """
    try:
        encoder().encode([QUESTION])
    except SearchError as error:
        log.warning("encoder of new releases not loaded", encoder=settings.GRASP_ENCODER, reason=str(error))
    began = time.monotonic()
    pipeline = wiring.pipeline(settings.GRASP_DEFAULT_PIPELINE)
    # Nobody reads the answer, so no language model is called: it may cost money, or hang.
    quiet = {"plan.llm": "off"} if "plan.llm" in pipeline.options() else {}
    active = Release.objects.filter(pk=F("knowledge_base__active_release")).order_by("-activated")
    for release in active:
        if time.monotonic() - began > WARM_UP_SECONDS:
            break
        try:
            stages = pipeline.compose(pipeline.specification(quiet), wiring.tools(release))
            pipeline.search(Question(QUESTION, k=1), stages, Trace(Limit.seconds(WARM_UP_SECONDS)))
        except (SearchError, OSError) as error:
            log.warning("release not warmed", release=release.name, reason=str(error))
