"""Every question over the demo bases: what its first plan finds, with vectors of the packaged encoder."""

from __future__ import annotations

import pytest

from tests.questions import asked
from tests.questions.asked import Question
from tests.questions.bases import Base
from tests.questions.expected import wrong
from tests.questions.recorded import Recorded


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask each question of the file that a test names, and expect the known failures."""
    failing = asked.known_failures()
    read = {"written": asked.written, "of_demos": asked.of_demos, "of_people": asked.of_people}
    for fixture in set(read) & set(metafunc.fixturenames):
        metafunc.parametrize(fixture, [_marked(one, one.name in failing) for one in read[fixture]()])


def _marked(question: Question, fails: bool) -> object:
    marks = [pytest.mark.xfail(strict=True, raises=AssertionError)] if fails else []
    return pytest.param(question, id=question.name, marks=marks)


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Base]:
    encoder = Recorded()
    return {name: Base.of(name, tmp_path_factory.mktemp(name), encoder) for name in asked.BASES}


def test_a_question_of_this_folder_is_answered_by_its_plan(bases: dict[str, Base], written: Question) -> None:
    assert wrong(bases[written.base], written) == []


def test_a_question_of_a_demo_is_answered_by_its_plan(bases: dict[str, Base], of_demos: Question) -> None:
    assert wrong(bases[of_demos.base], of_demos) == []


@pytest.mark.data
def test_a_question_of_people_is_answered_by_its_plan(bases: dict[str, Base], of_people: Question) -> None:
    assert wrong(bases[of_people.base], of_people) == []


@pytest.mark.data
def test_every_known_failure_is_of_a_question() -> None:
    names = {one.name for one in asked.everything()}
    assert asked.known_failures() <= names
