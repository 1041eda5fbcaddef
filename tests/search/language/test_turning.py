"""The words that turn a condition round; what each sentence turns is written beside it."""

from __future__ import annotations

import pytest

from search.language.turning import turning_words


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("Which papers are not about amber?", "en", ["not"]),
        ("tents without poles that nobody sells", "en", ["without", "nobody"]),
        ("lamps except those made by Ostervik", "en", ["except"]),
        ("neither red nor navy", "en", ["neither", "nor"]),
        ("Welche Artikel sind nicht über Bernstein?", "de", ["nicht"]),
        ("des lampes sans câble", "fr", ["sans"]),
        ("lámparas sin cable", "es", ["sin"]),
        # These hold such a word and turn nothing.
        ("not only lamps", "en", []),
        ("no more than 5 lamps", "en", []),
        ("isn't there a lamp under 20 euros?", "en", []),
        ("lamps made by Ostervik", "en", []),
        ("日本で", "ja", []),
        ("", "en", []),
    ],
)
def test_turning_words_are_found_where_they_turn_something(text: str, code: str, said: list[str]) -> None:
    assert [text[start:end].lower() for start, end in turning_words(text, code)] == said
