"""What the rows of a table are called, from the name of its file."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from search.ingest.mapping.sniff import split_suffix

SINGULARS = {"movies": "movie", "people": "person", "persons": "person", "children": "child", "series": "series"}
"""Plurals that the rules for endings get wrong."""
NO_NAME = "node"
"""Stands for what the rows are where the file's name does not say it."""


def kind_of(path: str) -> str:
    """Return the name of the things in a file, from the file's name: `Movies.csv` holds `movie`."""
    word = stem_word(path)
    word = re.sub(r"_?(nodes?|things?|vertices|entities|table|list|data|exports?|dump)$", "", word) or NO_NAME
    if word in SINGULARS:
        return SINGULARS[word]
    for plural, singular in (("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x")):
        if word.endswith(plural) and len(word) > len(plural) + 1:
            return word.removesuffix(plural) + singular
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


def stem_word(path: str) -> str:
    """Return a file's name without its endings, in small letters and with `_` between its words."""
    stem = split_suffix(PurePosixPath(path).name)[0]
    return re.sub(r"\W+", "_", stem.lower()).strip("_") or NO_NAME
