"""Every question over the demo bases: what its first plan finds, with vectors of the packaged encoder."""

from __future__ import annotations

import pytest

from search.domain.plan import Plan
from search.domain.plan.normal_form import normal_form
from tests.questions import asked
from tests.questions.asked import ANYTHING, Question
from tests.questions.bases import Base, parsers
from tests.questions.recorded import Recorded


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Ask each question of the file that a test names, and expect the known failures of the chosen parser."""
    parser = metafunc.config.getoption("--parser") or parsers()[0] or "old"
    read = {"written": asked.written, "of_demos": asked.of_demos, "of_people": asked.of_people}
    for fixture in set(read) & set(metafunc.fixturenames):
        metafunc.parametrize(fixture, [_marked(one, parser) for one in read[fixture]()])


def _marked(question: Question, parser: str) -> object:
    fails = question.fails in (parser, "both")
    marks = [pytest.mark.xfail(strict=True, raises=AssertionError)] if fails else []
    return pytest.param(question, id=question.name, marks=marks)


@pytest.fixture(scope="module")
def bases(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Base]:
    encoder, parser = Recorded(), pytestconfig.getoption("--parser")
    return {name: Base.of(name, tmp_path_factory.mktemp(name), encoder, parser) for name in asked.BASES}


def test_a_question_of_this_folder_is_answered_by_its_plan(bases: dict[str, Base], written: Question) -> None:
    assert wrong(bases[written.base], written) == []


def test_a_question_of_a_demo_is_answered_by_its_plan(bases: dict[str, Base], of_demos: Question) -> None:
    assert wrong(bases[of_demos.base], of_demos) == []


@pytest.mark.data
def test_a_question_of_people_is_answered_by_its_plan(bases: dict[str, Base], of_people: Question) -> None:
    assert wrong(bases[of_people.base], of_people) == []


def wrong(base: Base, question: Question) -> list[str]:
    """Return a sentence for each expectation that a question's first plan does not meet."""
    best = base.best(question.text)
    plan, found = best.plan, base.found(best.plan)
    checks = {
        f"found {sorted(found)}": question.answers is None or sorted(found) == sorted(question.answers),
        f"lacks {set(question.has) - set(found)}": set(question.has) <= set(found),
        f"finds {set(question.lacks) & set(found)}": not set(question.lacks) & set(found),
        f"first {found[:1]}": question.first in (None, *found[:1]),
        f"asks {plan.ask}, {bool(found)}": question.yes is None or (plan.ask, bool(found)) == ("whether", question.yes),
        "yes or no": question.known or plan.ask != "whether" or bool(plan.target.relevance_text),
        f"shows {plan.show!r}": question.show in (None, plan.show),
        f"labels {plan.target.labels}": question.labels in (None, plan.target.labels),
        "a plan in the graph": not (question.text_alone and (plan.anchors or plan.runs_over_type)),
        f"left to texts {plan.target.relevance_text!r}": _leaves(plan.target.relevance_text, question),
        f"probability {best.probability:.2f}": question.least <= best.probability <= question.most,
        f"another plan {plan.to_json()}": question.plan is None or _same(base, plan, question),
    }
    return [told for told, is_met in checks.items() if not is_met]


def _leaves(left: str, question: Question) -> bool:
    """Whether a plan leaves to texts what is expected: nothing, if its answers are and no word is."""
    if question.rest == ANYTHING:
        return True
    answered = question.first is not None or question.yes is not None or question.answers is not None
    return question.rest in left and not (left and answered and not question.rest)


def _same(base: Base, plan: Plan, question: Question) -> bool:
    schema = base.demo.schema
    return normal_form(plan, schema) == normal_form(Plan.parse(question.plan, schema), schema)


def test_every_known_failure_is_of_a_question() -> None:
    ids = {one.id for one in (*asked.of_demos(), *asked.of_people())}
    assert {one for one in asked.known_failures() if not one.startswith("asked-") or asked.ASKED.is_dir()} <= ids
