"""request_search: check the request, write its row, and queue it for the search worker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from uuid import UUID, uuid4

from django.conf import settings as site
from django.contrib.auth.models import User as Account
from django.db import transaction

from search.domain.errors import Fault, NotNow, QueueFull
from search.domain.follow_up import Followed
from search.domain.graph import Schema
from search.domain.plan import Plan
from search.domain.question import Question
from search.models import SearchRun
from search.services.access.count_refused import FULL, LIMIT, count_refused, kind_of
from search.services.access.limits import count_search, place_in_queue
from search.services.access.visitors import NOBODY, User, Visitor
from search.services.code_version import code_version
from search.services.searches.check_request import SearchRejected, check_given_plan, check_k, check_question, whole
from search.services.searches.choose_base import fitting_base
from search.services.searches.follow import fitting, follow, followed_run
from search.services.searches.pin import Pin
from search.services.searches.record_request import insert_pinned, keep_pin, kept_pin
from search.services.searches.resolve_request import point_at_release, specify
from search.services.searches.send_search import QUEUE, send_search
from search.services.searches.storable import storable_json, storable_text


def request_search(
    *,
    knowledge_base: object,
    question: object,
    pipeline: object = "",
    k: object = 20,
    plan: object = None,
    settings: object = None,
    follows: object = None,
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
    `follows` is the id of the search that this one follows; knowledge base and pipeline are those of that search where
    they are not given. Where none is given, it is the knowledge base that fits the question best. `pin`, from
    `pin_searches`, sets release, settings and specification instead of `pipeline` and `settings`.
    `visitor` identifies the caller beyond the account. `run_id` is the id that the run gets, a new one if it is None;
    with `awaited` the worker sends the described search with the notice of its end.

    Returns the saved run. Raises SearchRejected with every fault at once, TooManySearches when the asker's limit is
    reached, and QueueFull when the queue is full; none of these leaves a run. Raises ServiceUnavailable when Valkey
    does not answer; if the task could not be queued, the run is kept as failed with the reason.
    """
    if user is not None:
        with _counted(origin):
            count_search(user, visitor)
    run_id = run_id or uuid4()
    earlier, strange = followed_run(follows, run_id, user) if follows is not None else (None, [])
    if earlier is not None:
        knowledge_base = knowledge_base or earlier.knowledge_base_name
        pipeline = pipeline or earlier.pipeline
    knowledge_base, others = fitting_base(knowledge_base, question, user)
    kept_plan, plan_faults = storable_json(plan, "/plan")
    kept_options, option_faults = storable_json(settings or {}, "/settings")
    run = SearchRun(
        id=run_id,
        question=storable_text(question),
        knowledge_base_name=storable_text(knowledge_base)[:200],
        other_bases=others,
        pipeline=storable_text(pipeline or site.GRASP_DEFAULT_PIPELINE)[:100],
        k=whole(k) if 0 <= whole(k) < 2**31 else 0,
        plan=kept_plan,
        options=kept_options if isinstance(kept_options, dict) else {},
        user=user if isinstance(user, Account) else None,
        asker="" if isinstance(user, Account) else visitor.asker,
        origin=origin,
        purpose=purpose,
        time_limit=time_limit or site.GRASP_SEARCH_SECONDS,
        code_version=code_version(),
    )
    found = [*faults, *check_question(question), *check_k(k), *plan_faults, *option_faults, *strange]
    plain = pin is None and follows is None and plan is None and not settings and isinstance(settings, Mapping | None)
    plain = plain and enqueue
    if plain and not found and _record_plain(run, origin, awaited):
        return run
    if pin is not None:
        pin.apply(run)
    else:
        found += point_at_release(run, knowledge_base, user)
        found += specify(run, settings if not option_faults else None, user)
    if plan is not None and run.release is not None and not plan_faults:
        found += check_given_plan(plan, run.release)
    if earlier is not None and not strange:
        found += follow(run, earlier)
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
        transaction.on_commit(lambda: send_search(run, awaited))
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
            transaction.on_commit(lambda: send_search(run, awaited))
    return recorded


def question_of(run: SearchRun, schema: Schema) -> Question:
    """Return the run's question as a `Question` for the pipeline; the run was checked when it was requested."""
    plan = Plan.parse(run.plan, schema) if run.plan is not None else None
    follows = fitting(Followed.from_json(run.followed), schema) if run.followed else None
    return Question(text=run.question, k=run.k, plan=plan, follows=follows)


@contextmanager
def _counted(origin: str) -> Iterator[None]:
    """Count the search as refused when the block raises NotNow, and raise it again."""
    try:
        yield
    except NotNow as error:
        count_refused(origin, FULL if isinstance(error, QueueFull) else LIMIT)
        raise
