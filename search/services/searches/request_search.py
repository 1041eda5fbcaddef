"""request_search: check the request, write its row, and queue it for the search worker."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID, uuid4

from celery import current_app
from django.conf import settings as site
from django.contrib.auth.models import User as Account
from django.db import transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from search import wiring
from search.domain.errors import (
    Fault,
    InvalidRequest,
    NotNow,
    PlanInvalid,
    QueueFull,
    ServiceUnavailable,
    nearest,
)
from search.domain.graph import Schema
from search.domain.plan import Plan
from search.domain.question import Question
from search.models import KnowledgeBase, PipelineVersion, Release, SearchRun
from search.models.knowledge import BuildStatus
from search.models.pipelines import specification_hash
from search.services.access.count_refused import FULL, LIMIT, count_refused, kind_of
from search.services.access.limits import count_search, place_in_queue
from search.services.access.visitors import NOBODY, User, Visitor, is_privileged
from search.services.code_version import code_version
from search.services.health import worker_alive
from search.services.searches.pin import Pin, PipelineChoice
from search.services.searches.record_request import insert_pinned, keep_pin, kept_pin
from search.services.searches.storable import storable_json, storable_text

MAX_QUESTION = 2_000
MAX_K = 100
INVISIBLE_CATEGORIES = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp"})
"""Unicode categories of invisible characters: controls, formats, spaces. A question of only these is empty."""
TASK = "search.tasks.run_search"
QUEUE = "search"


class SearchRejected(InvalidRequest):
    """The request cannot be run. No `SearchRun` is saved for it, but it is counted."""


def request_search(
    *,
    knowledge_base: object,
    question: object,
    pipeline: object = "",
    k: object = 20,
    plan: object = None,
    settings: object = None,
    user: User = None,
    visitor: Visitor = NOBODY,
    origin: str = SearchRun.Origin.API,
    purpose: str = "",
    time_limit: float | None = None,
    enqueue: bool = True,
    faults: Sequence[Fault] = (),
    pin: Pin | None = None,
    run_id: UUID | None = None,
    awaited: bool = False,
) -> SearchRun:
    """Record a search and, with `enqueue`, hand it to the search worker once the row is committed.

    Values of the request may have any JSON type; a wrong type is a fault. `user` None stands for the system itself
    (commands, evaluation), which sees every knowledge base. `plan` is a plan as JSON, `settings` are options as
    `{"stage.option": value}`, `time_limit` is in seconds, and `faults` are the faults that the door itself has found.
    `pin`, from `pin_searches`, sets release, settings and specification instead of `pipeline` and `settings`.
    `visitor` identifies the caller beyond the account. `run_id` is the id that the run gets, a new one if it is None;
    with `awaited` the worker sends the described search with the notice of its end.

    Returns the saved run. Raises SearchRejected with every fault at once, TooManySearches when the asker's limit is
    reached, and QueueFull when the queue is full; none of these leaves a run. Raises ServiceUnavailable when Valkey
    does not answer; if the task could not be queued, the run is kept as failed with the reason.
    """
    if user is not None:
        with _counted(origin):
            count_search(user, visitor)
    kept_plan, plan_faults = storable_json(plan, "/plan")
    kept_options, option_faults = storable_json(settings or {}, "/settings")
    run = SearchRun(
        id=run_id or uuid4(),
        question=storable_text(question),
        knowledge_base_name=storable_text(knowledge_base)[:200],
        pipeline=storable_text(pipeline or site.GRASP_DEFAULT_PIPELINE)[:100],
        k=_whole(k) if 0 <= _whole(k) < 2**31 else 0,
        plan=kept_plan,
        options=kept_options if isinstance(kept_options, dict) else {},
        user=user if isinstance(user, Account) else None,
        asker="" if isinstance(user, Account) else visitor.asker,
        origin=origin,
        purpose=purpose,
        time_limit=time_limit or site.GRASP_SEARCH_SECONDS,
        code_version=code_version(),
    )
    found = [*faults, *_check_question(question), *_check_k(k), *plan_faults, *option_faults]
    plain = pin is None and enqueue and plan is None and not settings and isinstance(settings, Mapping | None)
    if plain and not found and _record_plain(run, origin, awaited):
        return run
    if pin is not None:
        pin.apply(run)
    else:
        found += _point_at_release(run, knowledge_base, user)
        found += _specify(run, settings if not option_faults else None, user)
    if plan is not None and run.release is not None and not plan_faults:
        found += _check_plan(plan, run.release)
    if found:
        # A pointer may contain a key of the request that Postgres or UTF-8 does not accept.
        found = [Fault(storable_text(f.pointer), storable_text(f.message), f.nearest) for f in found]
        count_refused(origin, kind_of(found))
        raise SearchRejected(found)
    if not enqueue:
        run.save()
        return run
    with _counted(origin), place_in_queue(QUEUE), transaction.atomic():
        run.save()
        transaction.on_commit(lambda: _send(run, awaited))
    if plain:
        keep_pin(run)
    return run


def _record_plain(run: SearchRun, origin: str, awaited: bool) -> bool:
    """Record and send a plain request whose choices are known from an earlier one; return whether they still hold."""
    pin = kept_pin(run)
    if pin is None:
        return False
    pin.apply(run)
    with _counted(origin), place_in_queue(QUEUE):
        recorded = insert_pinned(run)
        if recorded:
            transaction.on_commit(lambda: _send(run, awaited))
    return recorded


def pin_searches(
    *,
    knowledge_base: str,
    pipelines: Sequence[str | PipelineChoice],
    settings: Mapping[str, Any],
    evaluation: UUID | None = None,
    release: str = "",
) -> dict[str, Pin]:
    """Return one pin for each choice, by its label; all have the same release and version of the settings.

    A choice may be a text (`PipelineChoice.parse`). `settings` apply to every choice and give way to its own. `release`
    is the name of a release; empty means the active one. Raises InvalidRequest with every fault of the request.
    """
    run = SearchRun()
    faults = _point_at_release(run, knowledge_base, None)
    if release and run.knowledge_base is not None:
        faults = _choose_release(run, run.knowledge_base, release)
    pins: dict[str, Pin] = {}
    for given in pipelines:
        try:
            choice = PipelineChoice.parse(given) if isinstance(given, str) else given
        except InvalidRequest as error:
            faults += error.faults
            continue
        label = choice.label or choice.pipeline
        run.pipeline, run.pipeline_version = choice.pipeline, None
        found = _specify(run, {**settings, **choice.settings}, None, choice.version)
        if label in pins:
            found.append(Fault("/pipelines", f"{label!r} is given twice."))
        faults += [fault for fault in found if fault not in faults]
        if not found and run.release is not None:
            pins[label] = Pin(
                run.release, run.settings_version, choice.pipeline, run.pipeline_version, run.specification, evaluation
            )  # fmt: skip
    if faults:
        raise InvalidRequest(faults)
    return pins


def pinned_run(pin: Pin, *, question: str, k: int, purpose: str) -> SearchRun:
    """Return a search of an evaluation, without a row. Raises SearchRejected if the question cannot be searched."""
    if found := [*_check_question(question), *_check_k(k)]:
        raise SearchRejected(found)
    run = SearchRun(
        question=storable_text(question), k=k, origin=SearchRun.Origin.EVALUATION, purpose=storable_text(purpose)[:200],
        time_limit=site.GRASP_SEARCH_SECONDS, code_version=code_version(),
    )  # fmt: skip
    pin.apply(run)
    return run


def question_of(run: SearchRun, schema: Schema) -> Question:
    """Return the run's question as a `Question` for the pipeline; the run was checked when it was requested."""
    plan = Plan.parse(run.plan, schema) if run.plan is not None else None
    return Question(text=run.question, k=run.k, plan=plan)


def _send(run: SearchRun, awaited: bool) -> None:
    """Send the task to the broker, after a check with a short time limit that the broker answers."""
    try:
        if worker_alive(QUEUE) is None:
            raise BrokerError("no answer within a second")
        _publish([str(run.pk), awaited], run.time_limit)
    except (BrokerError, OSError) as error:
        reason = "Valkey does not answer, so the search was not queued; ask again in a moment."
        run.status, run.finished = SearchRun.Status.FAILED, timezone.now()
        run.error = {"title": "Valkey is not reachable", "detail": reason, "stage": "queue"}
        run.save(update_fields=["status", "finished", "error"])
        raise ServiceUnavailable("Valkey", reason) from error


def _publish(arguments: list[Any], seconds: float) -> None:
    """Put the task into the queue; it expires after `seconds`. Raises BrokerError or OSError if the broker is away.

    Celery's `send_task` does the same, but first asks the router, the result backend and the receivers of its signals,
    which this task has not; that takes two thirds of its time.
    """
    task = current_app.amqp.as_task_v2(str(uuid4()), TASK, args=arguments, expires=seconds, ignore_result=True)
    policy = current_app.conf.task_publish_retry_policy
    with current_app.producer_pool.acquire(block=True) as producer:
        producer.publish(
            task.body, routing_key=QUEUE, exchange="", serializer=current_app.conf.task_serializer,
            headers=task.headers, retry=True, retry_policy=policy, **task.properties,
        )  # fmt: skip


@contextmanager
def _counted(origin: str) -> Iterator[None]:
    """Count the search as refused when the block raises NotNow, and raise it again."""
    try:
        yield
    except NotNow as error:
        count_refused(origin, FULL if isinstance(error, QueueFull) else LIMIT)
        raise


def _check_question(question: object) -> list[Fault]:
    if not isinstance(question, str):
        return [Fault("/question", "The question is a string.")]
    if len(question) > MAX_QUESTION:
        message = f"The question has {len(question):,} characters; {MAX_QUESTION:,} are the most."
        return [Fault("/question", message)]
    if "\x00" in question:
        return [Fault("/question", "The question holds a NUL character; take it out.")]
    if all(unicodedata.category(character) in INVISIBLE_CATEGORIES for character in question):
        return [Fault("/question", "The question is empty; ask something in words.")]
    return []


def _check_k(k: object) -> list[Fault]:
    if not 1 <= _whole(k) <= MAX_K:
        return [Fault("/k", f"k is how many results are shown: a whole number from 1 to {MAX_K}, not {_shown(k)}.")]
    return []


def _whole(value: object) -> int:
    """Return `value` if it is a whole number, else -1."""
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _point_at_release(run: SearchRun, name: object, user: User) -> list[Fault]:
    """Set the run's release to the active one of a knowledge base that `user` may see; return the faults."""
    # The snapshot is not joined: its schema is slow to read and only needed to check a plan.
    visible = KnowledgeBase.objects.visible_to(user).select_related("active_settings", "active_release")
    named = visible.filter(name=storable_text(name)).order_by() if isinstance(name, str) and name else ()
    base = next(iter(named), None)
    if base is None:
        names = list(visible.values_list("name", flat=True)[:20])
        known = f"There are: {', '.join(names)}." if names else "None has been imported yet."
        if not isinstance(name, str) or not name:
            return [Fault("/knowledge_base", f"Name the knowledge base to search. {known}")]
        return [Fault("/knowledge_base", f"There is no knowledge base {_shown(name)}. {known}", nearest(name, names))]
    run.knowledge_base = base
    run.settings_version = base.active_settings.version if base.active_settings else 0
    if base.active_release is None:
        message = f"{base.name!r} has no active release; import it again, or activate one of its releases."
        return [Fault("/knowledge_base", message)]
    run.release, run.release_name = base.active_release, base.active_release.name
    return []


def _choose_release(run: SearchRun, base: KnowledgeBase, name: str) -> list[Fault]:
    """Set the run's release to the one with this name; return the faults."""
    releases = {release.name: release for release in base.releases.select_related("knowledge_base__active_settings")}
    found = releases.get(name)
    if found is None:
        known = ", ".join(releases) or "none"
        return [Fault("/release", f"{base.name} has no release {_shown(name)}; it has: {known}.")]
    if found.status != BuildStatus.READY:
        return [Fault("/release", f"The release {name} is {found.get_status_display()}, so it cannot be searched.")]
    run.release, run.release_name = found, found.name
    return []


def _specify(run: SearchRun, settings: object, user: User, number: int | None = None) -> list[Fault]:
    """Set the run's specification from the options of the site, then of the pipeline version, then of the caller.

    `number` is the version; None means the active one. Return the faults. Everybody gets the options of site and
    version; some options only staff may set in a request.
    """
    names = wiring.pipelines()
    if run.pipeline not in names:
        message = f"There is no pipeline {_shown(run.pipeline)}. There are: {', '.join(names)}."
        return [Fault("/pipeline", message, nearest(run.pipeline, names))]
    if not isinstance(settings, Mapping | None):
        return [Fault("/settings", "settings is an object of options, such as {'fuse.k': 5}.")]
    version = None
    if run.knowledge_base is not None:
        versions = PipelineVersion.objects.filter(knowledge_base=run.knowledge_base, pipeline=run.pipeline)
        wanted = {"active": True} if number is None else {"version": number}
        version = next(iter(versions.filter(**wanted).order_by()), None)
        if version is None and number:
            there = ", ".join(map(str, [0, *versions.order_by("version").values_list("version", flat=True)]))
            message = f"{run.pipeline} has no such version for {run.knowledge_base_name or run.knowledge_base.name}"
            return [Fault("/pipeline", f"{message}; it has: {there}.")]
    run.pipeline_version, run.pipeline_number = version, version.version if version is not None else 0
    pipeline = wiring.pipeline(run.pipeline)
    try:
        run.specification = pipeline.specification(version.options if version else {}, settings or {})
    except InvalidRequest as error:
        return list(error.faults)
    run.specification_hash = specification_hash(run.specification)
    return [] if is_privileged(user) else pipeline.refused_to_visitors(settings or {})


def _check_plan(plan: object, release: Release) -> list[Fault]:
    try:
        Plan.parse(plan, release.snapshot.schema)
    except PlanInvalid as error:
        return [Fault(f"/plan{fault.pointer}", fault.message, fault.nearest) for fault in error.faults]
    return []


def _shown(value: object) -> str:
    """Return a value as text for a message, cut after 80 characters."""
    shown = repr(value)
    return storable_text(shown if len(shown) <= 80 else f"{shown[:80]}…")
