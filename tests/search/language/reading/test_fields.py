"""What property of a thing a question asks for."""

import pytest

from search.language.reading import read_cues


@pytest.mark.parametrize(
    ("text", "code", "first", "unit"),
    [
        ("how heavy is the Harmonica Lamp", "en", "weight", "mass"),
        ("what does the Alba cost?", "en", "price", "money"),
        ("how much is the Alba", "en", "price", "money"),
        ("how much does it weigh", "en", "weight", "mass"),
        ("when was X released", "en", "date", "date"),
        ("In what year was X founded?", "en", "date", "date"),
        ("wie schwer ist X", "de", "weight", "mass"),
        ("wann wurde X gegründet", "de", "date", "date"),
        ("¿qué altura tiene X?", "es", "height", ""),
        ("que peso tiene X", "es", "weight", "mass"),
        ("quelle taille fait X", "fr", "size", ""),
        ("welche Höhe hat X", "de", "height", ""),
    ],
)
def test_a_property_is_read(text: str, code: str, first: str, unit: str) -> None:
    asked = read_cues(text, code).field
    assert asked is not None
    assert (asked.scale[0], asked.unit) == (first, unit)


@pytest.mark.parametrize("text", ["qué altura es la mayor", "qué tiene X", "¿qué altura"])
def test_a_noun_of_a_property_alone_asks_for_none(text: str) -> None:
    assert read_cues(text, "es").field is None


@pytest.mark.parametrize("text", ["how many lamps", "what lamps cost less than 5 euros", "which is the heaviest", ""])
def test_other_questions_ask_for_no_property(text: str) -> None:
    assert read_cues(text).field is None
