"""A question in the language of a knowledge base, with the way back to the words that were asked."""

from __future__ import annotations

from search.language.detection import language_of
from search.language.gloss import MOST_CHARACTERS_READ, GlossedQuestion, gloss
from search.language.glossing.wanted import Wanted
from search.language.languages import language
from search.language.mending import mended
from search.language.words import language_code


def worded(text: str, base_language: str, wanted: Wanted | None = None) -> GlossedQuestion:
    """Return a question in the language of a knowledge base.

    In a question in that language misspelt words of asking and of the schema are mended, but no word that is a name or
    stands in a text. A question in another language is read word by word; without a dictionary it stays as it is.
    `wanted` says what the words of the knowledge base are.
    """
    wanted = wanted or Wanted()
    asked = language_of(text, base_language)
    if language(asked).whole and asked == language_code(base_language):
        return mended(text[:MOST_CHARACTERS_READ], asked, wanted.schema, wanted.is_known)
    return gloss(text, asked, base_language, wanted)
