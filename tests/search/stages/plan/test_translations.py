"""Everyday questions in six languages: the plan of a translation finds what the plan of the English question finds."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.search.stages.plan.demo_planners import PlannedDemo, planned

FILE = Path(__file__).resolve().parents[3] / "questions" / "translations.toml"
LANGUAGES = ("de", "es", "fr", "it", "pt", "nl")
QUESTIONS: list[dict[str, Any]] = tomllib.loads(FILE.read_text(encoding="utf-8"))["question"]


def pairs(*, demo: bool) -> list[tuple[str, str, str]]:
    """Return the base, the English question and a translation, of the demo bases or of those outside the repository."""
    return [
        (question["base"], question["en"], question[code])
        for question in QUESTIONS
        for code in LANGUAGES
        if (question["base"] != "geo") == demo
    ]


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PlannedDemo]:
    bases = sorted({question["base"] for question in QUESTIONS} - {"geo"})
    return {base: planned(base, tmp_path_factory.mktemp(base)) for base in bases}


@pytest.fixture(scope="module")
def geo(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> PlannedDemo:
    return planned(str(shared_data / "geo"), tmp_path_factory.mktemp("geo"))


@pytest.mark.parametrize(("base", "english", "said"), pairs(demo=True))
def test_a_translation_finds_what_the_english_question_finds(
    demos: dict[str, PlannedDemo], base: str, english: str, said: str
) -> None:
    expected = demos[base].answers(english)
    assert expected
    assert sorted(demos[base].answers(said)) == sorted(expected)


@pytest.mark.data
@pytest.mark.parametrize(("base", "english", "said"), pairs(demo=False))
def test_a_translated_question_about_places_finds_what_the_english_one_finds(
    geo: PlannedDemo, base: str, english: str, said: str
) -> None:
    expected = geo.answers(english)
    assert expected
    assert sorted(geo.answers(said)) == sorted(expected)
