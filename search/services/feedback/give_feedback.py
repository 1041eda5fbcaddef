"""give_feedback, withdraw_feedback: what a person says about the results of a search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.db.models.functions import Collate, Left, Lower

from search.domain.errors import Fault, InvalidRequest, NotAllowed, NotNow, nearest
from search.domain.unstorable import replaced, storable
from search.models import Feedback, Node, Release, SearchRun
from search.models.node_rows import INDEXED
from search.services.access import gate
from search.services.access.visitors import User, Visitor, is_privileged, person_columns
from search.services.knowledge.find_nodes import complete_name
from search.services.knowledge.nearest_nodes import nearest_id
from search.services.searches.describe_search import outputs_of
from search.services.searches.watch_search import ENDED

KINDS = tuple(Feedback.Kind.values)
LONGEST_NOTE = 1_000
MOST_ON_A_SEARCH = 200
"""Judgments of one person on one search; nobody reads more results."""
A_MINUTE, MOST_IN_A_MINUTE = 60.0, 120
SAME_NAME_SHOWN = 5


@dataclass(frozen=True, slots=True)
class _Meant:
    """The node that somebody means, and its rank where it is a result."""

    id: str
    name: str
    rank: int | None = None


def give_feedback(
    run: SearchRun, *, node: object, kind: object, note: object = "", user: User, visitor: Visitor
) -> Feedback:
    """Record one person's judgment of one node; the same person's earlier one is replaced.

    `kind` is `right` or `wrong` for a result, `missing` for an entity that should have been one. A missing node may be
    given by its name. Raises InvalidRequest with every fault, NotAllowed for a caller who cannot be recognised again,
    and NotNow above the limit of judgments.
    """
    person = person_columns(user, visitor)
    if not person:
        raise NotAllowed("Feedback is stored for a person: sign in, or allow the cookie of this site.")
    seconds = gate.take(f"feedback:{visitor.network or person}", MOST_IN_A_MINUTE, A_MINUTE)
    if seconds:
        raise NotNow(
            f"More than {MOST_IN_A_MINUTE} judgments in a minute; continue in {math.ceil(seconds)} s.", seconds
        )
    meant = _checked(run, node, kind, note)
    own = run.feedback.filter(**person)
    if not own.filter(node_id=meant.id).exists() and own.count() >= MOST_ON_A_SEARCH:
        raise InvalidRequest([Fault("", f"One person judges at most {MOST_ON_A_SEARCH} entities of a search.")])
    said = {"kind": kind, "note": str(note).strip(), "rank": meant.rank, "node_name": meant.name}
    return _stored(run, meant.id, person, said)


def withdraw_feedback(run: SearchRun, *, node: str = "", user: User, visitor: Visitor) -> int:
    """Delete a person's judgment of a node, or all of their judgments of the search; return how many these were."""
    own = own_feedback(run, user, visitor)
    return (own.filter(node_id=replaced(node)) if node else own).delete()[0]


def own_feedback(run: SearchRun, user: User, visitor: Visitor) -> QuerySet[Feedback]:
    """Return what this person said about a search, oldest first; nothing for somebody who is not known."""
    person = person_columns(user, visitor)
    return run.feedback.filter(**person).order_by("created") if person else run.feedback.none()


def feedback_for(run: SearchRun, user: User, visitor: Visitor) -> QuerySet[Feedback]:
    """Return what a caller may read of the feedback on a search: staff all of it if they may see its knowledge base.

    Others get their own.
    """
    everybody = run.feedback.select_related("user").order_by("created")
    if is_privileged(user) and not run.only_stored:
        return everybody
    return own_feedback(run, user, visitor).select_related("user")


def _stored(run: SearchRun, node_id: str, person: dict[str, Any], said: dict[str, Any]) -> Feedback:
    """Insert or update the row; a second request at the same moment finds the row of the first."""
    try:
        with transaction.atomic():
            return run.feedback.update_or_create(node_id=node_id, **person, defaults=said)[0]
    except IntegrityError:
        return run.feedback.update_or_create(node_id=node_id, **person, defaults=said)[0]


def _checked(run: SearchRun, node: object, kind: object, note: object) -> _Meant:
    """Return the node that is judged. Raises InvalidRequest with every fault."""
    faults = []
    if kind not in KINDS:
        message = f"Feedback is one of: {', '.join(KINDS)}."
        faults.append(Fault("/kind", message, nearest(str(kind), KINDS)))
    if not isinstance(note, str) or len(note) > LONGEST_NOTE or not storable(note):
        faults.append(
            Fault("/note", f"A note is a text of at most {LONGEST_NOTE:,} characters, without NUL and half characters.")
        )
    if run.status not in ENDED:
        faults.append(Fault("", "The search has not ended yet; its results can be judged once it has."))
    if not isinstance(node, str) or not node.strip() or len(node) > INDEXED * 4 or not storable(node):
        faults.append(Fault("/node", "Feedback names an entity: the id of a result, or of what is missing."))
    if faults:
        raise InvalidRequest(faults)
    results = {result.node.id: result for result in outputs_of(run.steps.all()).results.entries}
    text = str(node)
    if kind != Feedback.Kind.MISSING:
        if text not in results:
            message = f"{text[:80]!r} is not a result of this search; for an entity that should be one, use `missing`."
            raise InvalidRequest([Fault("/node", message, nearest(text, results))])
        return _Meant(text, results[text].node.name, results[text].rank)
    meant = _node_of(_release(run), text.strip())
    if meant.id in results:
        message = f"{meant.name or meant.id} is result {results[meant.id].rank} of this search; mark it there."
        raise InvalidRequest([Fault("/node", message)])
    return meant


def _release(run: SearchRun) -> Release:
    """Return the release of the search, or the active one where it was dropped. Raises InvalidRequest without any."""
    if run.release is not None and run.release.status == "ready":
        return run.release
    base = run.knowledge_base
    if base is None or base.active_release is None:
        raise InvalidRequest([Fault("/node", "The knowledge base of this search has no release any more.")])
    return base.active_release


def _node_of(release: Release, text: str) -> _Meant:
    """Return the node with this id, or else the only one with this name. Raises InvalidRequest."""
    nodes = Node.objects.filter(snapshot_id=release.snapshot.pk).order_by("key")
    found = list(nodes.filter(id=text).values_list("id", "name"))
    if not found:
        named = nodes.annotate(begin=Collate(Lower(Left("name", INDEXED)), "C"))
        found = list(named.filter(begin=text.lower()[:INDEXED]).values_list("id", "name")[: SAME_NAME_SHOWN + 1])
    if len(found) == 1:
        return _Meant(*found[0])
    if found:
        ids = ", ".join(repr(node_id) for node_id, _ in found[:SAME_NAME_SHOWN])
        more = " and others" if len(found) > SAME_NAME_SHOWN else ""
        raise InvalidRequest([Fault("/node", f"Several entities are called {text[:80]!r}; give an id: {ids}{more}.")])
    named_alike = complete_name(release, text, 1)
    near = named_alike[0].name if named_alike else nearest_id(release, text)
    raise InvalidRequest([Fault("/node", f"There is no entity {text[:80]!r} in {release.name}.", near)])
