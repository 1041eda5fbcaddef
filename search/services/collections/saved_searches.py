"""saved_searches: searches that a person keeps under a name, and which of them would be answered anew by now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db import IntegrityError, transaction
from django.db.models import Q, QuerySet

from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase, PipelineVersion, SavedSearch, SearchRun
from search.services.access.visitors import User, Visitor, person_columns
from search.services.collections.edits import check_seen
from search.services.collections.people import LONGEST_NAME, keeper, text_faults

MOST_SAVED = 500


@dataclass(frozen=True, slots=True)
class News:
    """What has changed since a search was asked: names of the release and the pipeline version that are active now.

    Each is empty if it is the one that the search used.
    """

    release: str = ""
    version: str = ""

    def __bool__(self) -> bool:
        return bool(self.release or self.version)


def saved_searches(user: User, visitor: Visitor, *, words: str = "", knowledge_base: str = "") -> QuerySet[SavedSearch]:
    """Return what a person has saved, newest first, without searches that they may not read any more."""
    person = person_columns(user, visitor)
    if not person or user is None:
        return SavedSearch.objects.none()
    own = SavedSearch.objects.filter(**person, run__in=SearchRun.objects.visible_to(user).values("pk"))
    if words := words.replace("\x00", ""):
        own = own.filter(Q(name__icontains=words) | Q(note__icontains=words) | Q(run__question__icontains=words))
    if knowledge_base:
        own = own.filter(run__knowledge_base_name=knowledge_base.replace("\x00", ""))
    return own.select_related("run")


def hidden_saved(user: User, visitor: Visitor) -> int:
    """Return how many saved searches a person may not read any more, such as a visitor those of a deleted base."""
    person = person_columns(user, visitor)
    kept = SavedSearch.objects.filter(**person).count() if person else 0
    return kept - saved_searches(user, visitor).count()


def is_saved(run: SearchRun, user: User, visitor: Visitor) -> bool:
    """Whether this person has saved the search."""
    person = person_columns(user, visitor)
    return bool(person) and run.saved.filter(**person).exists()


def save_search(run: SearchRun, *, user: User, visitor: Visitor, name: str = "", note: str = "") -> SavedSearch:
    """Save a search, and return what is saved; a search that is saved already stays as it is.

    Without a name, its question is its name. Raises InvalidRequest, NotAllowed, and NotNow.
    """
    person = keeper(user, visitor)
    faults = text_faults(name, note, named=False)
    own = SavedSearch.objects.filter(**person)
    if not faults and not own.filter(run=run).exists() and own.count() >= MOST_SAVED:
        faults = [Fault("", f"One person saves at most {MOST_SAVED} searches; delete some first.")]
    if faults:
        raise InvalidRequest(faults)
    told = {"name": name.strip() or first_name(run), "note": note.strip()}
    try:
        with transaction.atomic():
            return SavedSearch.objects.get_or_create(run=run, **person, defaults=told)[0]
    except IntegrityError:
        # Two requests at the same moment; the row of the other one is there now.
        return SavedSearch.objects.get(run=run, **person)


def own_words_of(run: SearchRun, *, user: User, visitor: Visitor) -> str:
    """Return the name and note that the caller gave to this saved search; empty if only its question names it."""
    person = person_columns(user, visitor)
    saved = run.saved.filter(**person).first() if person else None
    if saved is None:
        return ""
    name = "" if saved.name == first_name(run) else saved.name
    return " – ".join(text for text in (name, saved.note) if text)


def first_name(run: SearchRun) -> str:
    """Return the name that a saved search has until somebody gives it another one: its question."""
    return " ".join(run.question.split())[:LONGEST_NAME]


def unsave_search(run: SearchRun, *, user: User, visitor: Visitor) -> bool:
    """Remove the search from what the person has saved, and return whether it was there."""
    return bool(run.saved.filter(**keeper(user, visitor)).delete()[0])


def rename_saved(
    saved: SavedSearch, *, name: object, note: object, user: User, visitor: Visitor, seen: str = ""
) -> None:
    """Give a saved search of the caller another name and note. Raises InvalidRequest and NotNow.

    `seen` is the mark of the name and note that the caller has seen (`check_seen`).
    """
    keeper(user, visitor)
    if faults := text_faults(name, note):
        raise InvalidRequest(faults)
    check_seen(seen, (saved.name, saved.note), (str(name).strip(), str(note).strip()))
    saved.name, saved.note = str(name).strip(), str(note).strip()
    saved.save(update_fields=["name", "note", "changed"])


def replace_base(saved: SavedSearch, run: SearchRun, *, user: User, visitor: Visitor) -> None:
    """Let a saved search stand for a newer search of the same question, with its name and note."""
    person = keeper(user, visitor)
    old = saved.run
    if (run.question, run.knowledge_base_name) != (old.question, old.knowledge_base_name):
        raise InvalidRequest([Fault("/run", "A saved search can be replaced only by a search of the same question.")])
    with transaction.atomic():
        SavedSearch.objects.filter(**person, run=run).exclude(pk=saved.pk).delete()
        saved.run = run
        saved.save(update_fields=["run", "changed"])


def news_of(runs: Iterable[SearchRun], user: User = None) -> dict[UUID, News]:
    """Return what has changed for each search by its id: a newer release, another active version of its pipeline.

    Nothing is said of knowledge bases that the user may not see any more.
    """
    asked: Sequence[SearchRun] = list(runs)
    keys = {run.knowledge_base_id for run in asked}
    visible = KnowledgeBase.objects.visible_to(user).select_related("active_release")
    bases = visible.in_bulk([key for key in keys if key is not None])
    active = {
        (version.knowledge_base_id, version.pipeline): version.version
        for version in PipelineVersion.objects.filter(knowledge_base__in=bases, active=True)
    }
    return {run.pk: _news(run, bases.get(run.knowledge_base_id or 0), active) for run in asked}


def _news(run: SearchRun, base: KnowledgeBase | None, active: dict[tuple[int, str], int]) -> News:
    if base is None or base.active_release is None:
        return News()
    number = active.get((base.pk, run.pipeline), 0)
    return News(
        release=base.active_release.name if base.active_release_id != run.release_id else "",
        version=f"{run.pipeline} {number}" if number != run.pipeline_number else "",
    )
