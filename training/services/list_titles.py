"""list_titles: the titles of a pipeline's lists for people."""

from __future__ import annotations

from collections.abc import Sequence

from search import wiring
from search.composition import Pipeline, titles_of


def list_titles(pipeline: str, names: Sequence[str]) -> dict[str, str]:
    """Return name → title for the lists of an attribution, such as `retrieve/bm25` → `Words (BM25)`.

    A list inside a stage has the title of the list, any other the title of the list that its stage makes. If the site
    does not have the pipeline any more, the title is the name as words.
    """
    return titles_in(wiring.pipeline_or_none(pipeline), names)


def titles_in(known: Pipeline | None, names: Sequence[str]) -> dict[str, str]:
    """Return name → title for these lists of a pipeline; None: the site does not have it."""
    made = {part.name: part.list_name for part in known.flow} if known else {}
    own = {name: inner if inner else made.get(name, name) for name in names for inner in [name.partition("/")[2]]}
    titles = titles_of(list(dict.fromkeys(own.values())), known)
    return {name: titles[own[name]] for name in names}
