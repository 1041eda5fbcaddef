"""request_search: check what is asked, write the row, and hand it to the search worker."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from typing import Any

from celery import current_app
from django.conf import settings as site
from django.contrib.auth.models import AbstractBaseUser, AnonymousUser
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from search import wiring
from search.domain.errors import Fault, InvalidRequest, PlanInvalid, ServiceUnavailable
from search.domain.plan import Plan
from search.domain.question import Question
from search.models import KnowledgeBase, PipelineVersion, Release, SearchRun
from search.models.pipelines import specification_hash
from search.services.code_version import code_version

MAX_QUESTION = 2_000
MAX_K = 100
TASK = "search.tasks.run_search"

User = AbstractBaseUser | AnonymousUser | None


class SearchRejected(InvalidRequest):
    """The request cannot be run; `run` is the row that records it."""

    def __init__(self, run: SearchRun, faults: list[Fault]) -> None:
        super().__init__(faults)
        self.run = run


def request_search(
    *,
    knowledge_base: str,
    question: str,
    pipeline: str = "",
    k: int = 20,
    plan: object = None,
    settings: Mapping[str, Any] | None = None,
    user: User = None,
    origin: str = SearchRun.Origin.API,
    purpose: str = "",
    time_limit: float | None = None,
    enqueue: bool = True,
) -> SearchRun:
    """Record a search and, with `enqueue`, hand it to the search worker once the row is committed.

    `user` None stands for the machine itself (commands, evaluation), which sees every knowledge base. `plan` is a plan
    as JSON, `settings` options as `{"stage.option": value}`, `time_limit` seconds.

    Raises SearchRejected with every fault at once; ServiceUnavailable when the broker does not take the task. Both
    leave a run that says so.
    """
    run = SearchRun(
        question=_storable(question),
        knowledge_base_name=_storable(knowledge_base)[:200],
        pipeline=_storable(pipeline or site.GRASP_DEFAULT_PIPELINE)[:100],
        k=k if _is_whole(k) and 0 <= k < 2**31 else 0,
        plan=plan,
        options=dict(settings or {}) if isinstance(settings, Mapping | None) else {},
        user=user if user is not None and user.is_authenticated else None,
        origin=origin,
        purpose=purpose,
        time_limit=time_limit or site.GRASP_SEARCH_SECONDS,
        code_version=code_version(),
    )
    faults = _check_question(question) + _check_k(k)
    release, found = _find_release(knowledge_base, user)
    faults += found
    if release is not None:
        run.knowledge_base, run.release, run.release_name = release.knowledge_base, release, release.name
        active = release.knowledge_base.active_settings
        run.settings_version = active.version if active else 0
    faults += _specify(run, settings)
    if plan is not None and release is not None:
        faults += _check_plan(plan, release)
    if faults:
        _reject(run, faults)
        raise SearchRejected(run, faults)
    if not enqueue:
        run.save()
        return run
    with transaction.atomic():
        run.save()
        transaction.on_commit(lambda: _send(run))
    return run


def question_of(run: SearchRun) -> Question:
    """Return the run's question as the pipeline takes it; the run was checked when it was requested."""
    assert run.release is not None
    plan = Plan.parse(run.plan, wiring.tools(run.release).schema) if run.plan is not None else None
    return Question(text=run.question, k=run.k, plan=plan)


def _send(run: SearchRun) -> None:
    try:
        current_app.send_task(TASK, args=[str(run.pk)], queue="search", expires=run.time_limit)
    except (BrokerError, OSError) as error:
        reason = "the broker does not answer; the search was not queued. Try again in a moment."
        run.status, run.finished = SearchRun.Status.FAILED, timezone.now()
        run.error = {"title": "Valkey is not reachable", "detail": reason, "stage": "queue"}
        run.save(update_fields=["status", "finished", "error"])
        raise ServiceUnavailable("Valkey", reason) from error


def _reject(run: SearchRun, faults: list[Fault]) -> None:
    run.status, run.finished = SearchRun.Status.FAILED, timezone.now()
    run.error = {"title": "The request is not valid", "errors": [fault.to_json() for fault in faults]}
    run.save()


def _check_question(question: object) -> list[Fault]:
    if not isinstance(question, str):
        return [Fault("/question", "The question is a string.")]
    text = "".join(c for c in question if unicodedata.category(c) not in ("Cc", "Cf", "Zs", "Zl", "Zp"))
    if not text:
        return [Fault("/question", "The question is empty; ask something in words.")]
    if len(question) > MAX_QUESTION:
        message = f"The question has {len(question):,} characters; {MAX_QUESTION:,} are the most."
        return [Fault("/question", message)]
    if "\x00" in question:
        return [Fault("/question", "The question holds a NUL character; take it out.")]
    return []


def _check_k(k: object) -> list[Fault]:
    if not _is_whole(k) or not 1 <= k <= MAX_K:  # type: ignore[operator]
        return [Fault("/k", f"k is how many results are shown: a whole number from 1 to {MAX_K}, not {k!r:.40}.")]
    return []


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _find_release(name: object, user: User) -> tuple[Release | None, list[Fault]]:
    """Return the active release of a knowledge base that `user` may see, or what is wrong."""
    visible = KnowledgeBase.objects.visible_to(user).select_related(
        "active_settings", "active_release__snapshot", "active_release__knowledge_base"
    )
    base = visible.filter(name=_storable(name)).first()
    if base is None:
        names = list(visible.values_list("name", flat=True)[:20])
        known = f"There are: {', '.join(names)}." if names else "None has been imported yet."
        return None, [Fault("/knowledge_base", f"There is no knowledge base {_storable(name)[:80]!r}. {known}")]
    if base.active_release is None:
        message = f"{base.name!r} has no active release; import it again, or activate one of its releases."
        return None, [Fault("/knowledge_base", message)]
    return base.active_release, []


def _specify(run: SearchRun, settings: object) -> list[Fault]:
    """Freeze the specification that the run will use: the site's, the version's, then the asker's options."""
    if run.pipeline not in wiring.pipelines():
        known = ", ".join(wiring.pipelines())
        return [Fault("/pipeline", f"There is no pipeline {run.pipeline!r}. There are: {known}.")]
    if not isinstance(settings, Mapping | None):
        return [Fault("/settings", "settings is an object of options, such as {'fuse.k': 5}.")]
    version = None
    if run.knowledge_base is not None:
        version = PipelineVersion.objects.filter(
            knowledge_base=run.knowledge_base, pipeline=run.pipeline, active=True
        ).first()
    if version is not None:
        run.pipeline_version, run.pipeline_number = version, version.version
    try:
        run.specification = wiring.pipeline(run.pipeline).specification(
            version.options if version else {}, settings or {}
        )
    except InvalidRequest as error:
        return list(error.faults)
    run.specification_hash = specification_hash(run.specification)
    return []


def _check_plan(plan: object, release: Release) -> list[Fault]:
    try:
        Plan.parse(plan, release.snapshot.schema)
    except PlanInvalid as error:
        return [Fault(f"/plan{fault.pointer}", fault.message, fault.nearest) for fault in error.faults]
    return []


def _storable(text: object) -> str:
    """Return text as Postgres takes it: no NUL, no lone surrogates, and not endless."""
    return str(text).replace("\x00", "�").encode("utf-8", "replace").decode()[:20_000]
