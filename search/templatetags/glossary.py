"""A word of the field, with its explanation behind it."""

from __future__ import annotations

from itertools import count
from typing import Any

from django import template

from search.glossary import ACRONYMS, GLOSSARY, Term
from search.language.reader import language

register = template.Library()

_NUMBERS = count(1)
"""Numbers of explanations; parts of a page that come later may not have those of the parts before."""


@register.inclusion_tag("search/_term.html")
def term(word: str, said: str = "") -> dict[str, Any]:
    """Show `said`, or the plain word for `word`, as a button that opens the explanation of `word`.

    Raises KeyError for a word that the table does not have.
    """
    known = GLOSSARY.get(word) or ACRONYMS[word]
    return {"word": word, "said": said or known.plain, "term": known, "id": f"term-{next(_NUMBERS)}"}


@register.inclusion_tag("search/_in_own_language.html")
def in_own_language(known: Term) -> dict[str, Any]:
    """Show the word for a term in the reader's language, if it is another one than that of the pages."""
    own = language()
    return {"language": own, "said": "" if own == "en" else known.words[own]}
