"""Every state of every component of the gallery: the template that the site uses, and made-up values for it.

The admin and other apps bring states of their own: `GRASP_GALLERY_STATES` names them by dotted path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.http import HttpRequest
from django.utils.module_loading import import_string

from search.views.gallery import graph_states, kept_states, made_up, search_states, site_states

Made = tuple[str, dict[str, Any]]
Pages = Mapping[str, tuple[str, Callable[[HttpRequest], Made]]]
"""The states of a component by name, each with a few words about it and a function that makes its page."""


@dataclass(frozen=True)
class GalleryState:
    """A state: its component and name, what it shows in a few words, and a function that makes its page."""

    component: str
    name: str
    about: str
    made: Callable[[HttpRequest], Made]


OF_SEARCH: Mapping[str, Pages] = {
    "search": search_states.SEARCHES,
    "why": search_states.WHY,
    "answers": search_states.ANSWERS,
    "home": search_states.HOMES,
    "compare": site_states.COMPARE,
    "entity": graph_states.ENTITIES,
    "alike": graph_states.ALIKE,
    "paths": graph_states.PATHS,
    "trace": site_states.TRACE,
    "searches": kept_states.SEARCHES,
    "changes": kept_states.CHANGES,
    "collections": kept_states.COLLECTIONS,
    "collection": kept_states.COLLECTION,
    "collect": kept_states.COLLECT,
    "settings": site_states.SETTINGS,
    "status": site_states.STATUS,
    "errors": made_up.ERRORS,
}


def _every() -> Iterator[GalleryState]:
    for components in (OF_SEARCH, *(import_string(path) for path in settings.GRASP_GALLERY_STATES)):
        for component, pages in components.items():
            for name, (about, made) in pages.items():
                yield GalleryState(component, name, about, made)


ALL: Sequence[GalleryState] = tuple(_every())
STATES: Mapping[tuple[str, str], GalleryState] = {(state.component, state.name): state for state in ALL}
COMPONENTS: Mapping[str, Sequence[GalleryState]] = {
    component: [state for state in ALL if state.component == component]
    for component in dict.fromkeys(state.component for state in ALL)
}
