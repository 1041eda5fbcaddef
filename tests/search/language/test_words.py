"""Words of a question and of a schema are brought together by their stems."""

import pytest

from search.language.words import asking_words, function_words, stem, words


@pytest.mark.parametrize(
    "family",
    [
        ("direct", "directed", "director", "directors", "directing", "direction"),
        ("actor", "actors", "acted", "acting", "act"),
        ("genre", "genres"),
        ("study", "studies"),
        ("write", "writer", "writers", "writes", "writing", "written"),
        ("give", "giver", "given", "giving"),
        ("choose", "chooser", "choosing"),
        ("publish", "published", "publishes"),
        ("class", "classes"),
    ],
)
def test_a_family_of_words_has_one_stem(family: tuple[str, ...]) -> None:
    assert len({stem(word) for word in family}) == 1


@pytest.mark.parametrize(
    ("one", "other"), [("gene", "genre"), ("drug", "dragon"), ("paper", "pope"), ("bus", "bush"), ("even", "event")]
)
def test_other_words_keep_apart(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_words_lose_case_punctuation_and_possession() -> None:
    assert words("Whose is Ann's, and the actors’ IL-2?") == ["whose", "is", "ann", "and", "the", "actors", "il", "2"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("en", "somebody anybody everybody someone anything everything whatever somewhere"),
        ("de", "jemand jemanden irgendwer irgendetwas irgendwo jedermann alles"),
        ("fr", "quelqu'un quelque quiconque chacun tout rien partout"),
        ("es", "alguien algo cualquiera quienquiera todo nadie"),
    ],
)
def test_indefinite_pronouns_carry_no_content(code: str, said: str) -> None:
    assert set(said.split()) <= function_words(code)


def test_function_words_are_those_of_the_language() -> None:
    assert "nicht" in function_words("de")
    assert "nicht" not in function_words("en-GB")
    assert {"och", "att"} <= function_words("sv")
    assert function_words("tlh") == frozenset()
    assert "zeige" in asking_words("de")
    assert asking_words("sv") == frozenset()
