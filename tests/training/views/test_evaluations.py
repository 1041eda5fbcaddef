"""The pages of evaluations: the report, its questions, one question, a comparison, and who may read them."""

from __future__ import annotations

import re
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission, User
from django.test import Client
from django.urls import reverse

from search.domain.plan import Plan
from search.domain.plan.parts import Anchor, Hop, Target
from search.models import KnowledgeBase
from training.data.examples import Example
from training.evaluation.calibration import calibration
from training.evaluation.lost import AnswerFate, Attribution, FoundNode, ListCoverage, Loss, LostStage, PossiblePlan
from training.models import Evaluation, Outcome
from training.services.evaluate import evaluate
from training.services.evaluations.named import named_evaluations
from training.views.shown.honesty import bins_of
from training.views.shown.report import comparisons_of, segments

EXAMPLES = [
    Example("q1", "first", ("film/1",), "val", {"hops": "1"}),
    Example("q2", "third", ("film/3",), "val", {"hops": "2"}),
    Example("q3", "<b>nowhere</b>", ("person/1",), "val", {"hops": "2"}),
]


@pytest.fixture
def evaluation(films: KnowledgeBase) -> str:
    report = evaluate(knowledge_base="films", examples=EXAMPLES, split="val", pipelines=["text", "path"], settings={})
    return str(report["evaluation"])


@pytest.fixture
def reader(client: Client, db: None) -> Client:
    user = User.objects.create_user("reader", is_superuser=False)
    user.user_permissions.add(Permission.objects.get(codename="view_evaluation"))
    client.force_login(user)
    return client


def page(client: Client, name: str, *given: object, **query: str) -> str:
    answer = client.get(reverse(name, args=given), query)
    assert answer.status_code == 200, answer.content
    return answer.content.decode()


def test_who_may_not_read_is_asked_to_sign_in_or_refused(client: Client, evaluation: str) -> None:
    addresses = [
        reverse("evaluations"), reverse("evaluations-compare"), reverse("evaluation-report", args=[evaluation]),
        reverse("evaluation-questions", args=[evaluation]), reverse("evaluation-question", args=[evaluation, 0]),
        reverse("evaluation-file", args=[evaluation]),
    ]  # fmt: skip
    for address in addresses:
        answer = client.get(address)
        assert answer.status_code == 302
        assert answer["Location"].startswith("/account/sign-in/?next=")
    client.force_login(User.objects.create_user("searcher"))
    assert {client.get(address).status_code for address in addresses} == {403}


def test_the_list_shows_each_evaluation_with_the_measures_of_its_pipelines(reader: Client, evaluation: str) -> None:
    told = page(reader, "evaluations")
    assert f"/evaluations/{evaluation}/" in told
    assert "44.4" in told
    assert "Launch an evaluation" not in told


def test_without_evaluations_the_list_says_what_to_do(reader: Client) -> None:
    told = page(reader, "evaluations")
    assert "No evaluations yet" in told
    assert "manage.py" not in told


def test_the_report_has_what_a_question_costs_and_published_figures_apart_from_its_own(
    reader: Client, evaluation: str
) -> None:
    told = page(reader, "evaluation-report", evaluation)
    assert "Cost of a question" in told
    assert "AvaTaR" not in told
    assert "?published=prime#published" in told
    asked = page(reader, "evaluation-report", evaluation, published="prime")
    before, context = asked.split('id="published"')
    assert "AvaTaR" in context
    assert "STaRK Prime, as papers publish it: not measured here" in context
    assert "Table A2" in context
    assert "AvaTaR" not in before
    assert "AvaTaR" not in page(reader, "evaluation-report", evaluation, published="movies")
    base = Evaluation.objects.get().knowledge_base
    base.name = "prime-films"
    base.save()
    assert "AvaTaR" in page(reader, "evaluation-report", evaluation)


def test_the_report_has_measures_slices_and_what_it_takes_to_repeat_it(reader: Client, evaluation: str) -> None:
    told = page(reader, "evaluation-report", evaluation)
    for expected in ("films-1", "44.4", "Comparisons", "Slices", "Reproduction", "asked again", "TREC run of path"):
        assert expected in told
    assert "<b>nowhere</b>" not in told
    assert "Expected answers that are left after each stage" in told


def test_a_report_costs_the_same_queries_however_many_questions_it_has(
    reader: Client,
    evaluation: str,
    django_assert_max_num_queries,  # type: ignore[no-untyped-def]
) -> None:
    with django_assert_max_num_queries(16):
        page(reader, "evaluation-report", evaluation)


def test_an_evaluation_without_a_report_says_how_far_it_came(reader: Client, evaluation: str) -> None:
    Evaluation.objects.update(report=None, status="cancelled", reason="It was cancelled.")
    told = page(reader, "evaluation-report", evaluation)
    assert "It was cancelled." in told
    assert "6 of 6 searches have been made." in told


def test_a_report_shows_how_honest_its_probabilities_were(reader: Client, evaluation: str) -> None:
    """One plan of 0.97 was called almost surely right, and its first answer was wrong."""
    row = Evaluation.objects.get(pk=evaluation)
    report = row.report or {}
    part = report["pipelines"]["path"]
    part["calibration"] = calibration([0.97, 0.5, 0.5], [0, 1, 0], "right")
    part["sure"] = {"questions": 2, "wrong": 1, "per_100": 33.33, "interval": [6.15, 79.23], "first": ["q2"]}
    Evaluation.objects.filter(pk=evaluation).update(report=report)
    told = page(reader, "evaluation-report", evaluation)
    assert "expected calibration error 0.323" in told  # (0.97 + 2 · 0) / 3
    assert "over 3 questions with a probability" in told
    assert told.count('<line class="whisker"') == 2
    assert "33.3 of 100 questions (6.2 to 79.2 with 95 % confidence)" in told
    assert "found=sure+and+wrong" in told


def test_questions_whose_wrong_answer_was_called_sure_can_be_listed(reader: Client, evaluation: str) -> None:
    Outcome.objects.filter(pipeline="text").update(leads=True)
    told = page(reader, "evaluation-questions", evaluation, pipeline="text", found="sure and wrong")
    assert "2 outcomes." in told  # Ranks 1, 3 and none.
    assert "0 outcomes." in page(
        reader, "evaluation-questions", evaluation, pipeline="path", found="sure and wrong"
    )  # fmt: skip


def test_a_report_of_an_earlier_version_is_shown_without_what_it_lacks(reader: Client, evaluation: str) -> None:
    row = Evaluation.objects.get(pk=evaluation)
    report = row.report or {}
    for part in report["pipelines"].values():
        del part["metrics"]["R-precision"], part["intervals"]["R-precision"], part["sure"]
        for values in part["slices"].values():
            for one in values.values():
                del one["intervals"]
    Evaluation.objects.filter(pk=evaluation).update(report=report)
    told = page(reader, "evaluation-report", evaluation)
    assert "44.4" in told
    assert '<th scope="col">R-precision</th>' not in told


def test_the_diagram_has_points_whiskers_and_bars_inside_it() -> None:
    first, second = bins_of([
        {"from": 0.4, "to": 0.4667, "questions": 5, "probability": 0.45, "right": 0.6, "interval": [0.2, 0.9]},
        {"from": 0.9333, "to": 1.0, "questions": 10, "probability": 0.97, "right": 1.0},
    ])  # fmt: skip
    assert (first.point, first.whisker) == ((90.0, 80.0), (20.0, 160.0))
    assert first.bar == (80.5, 12.3, 20.0)
    assert (second.point, second.whisker, second.bar[2]) == ((194.0, 0.0), None, 40.0)


def test_the_bar_of_lost_questions_adds_up() -> None:
    parts = list(segments({"linked": 2, "fused": 1}, 10))
    assert [(part.name, part.count, part.x, part.width) for part in parts] == [
        ("first", 7, 0.0, 700.0), ("linked", 2, 700.0, 200.0), ("fused", 1, 900.0, 100.0),
    ]  # fmt: skip
    assert list(segments({}, 10)) == []


def test_a_comparison_is_marked_only_below_the_corrected_level() -> None:
    one = {"a": "x", "b": "y", "metric": "MRR", "difference": 1.0, "interval": [0.1, 1.9], "p": 0.04, "p_holm": 0.08}
    [marked] = comparisons_of({"comparisons": [one]})["MRR"]
    assert not marked["significant"]
    assert (marked["low"], marked["high"]) == (0.1, 1.9)


def test_questions_are_filtered_and_wrong_filters_told(reader: Client, evaluation: str) -> None:
    told = page(reader, "evaluation-questions", evaluation, pipeline="text", found="none")
    assert "1 outcome." in told
    assert "&lt;b&gt;nowhere&lt;/b&gt;" in told
    wrong = page(reader, "evaluation-questions", evaluation, found="somewhere", colour="red")
    assert "found is one of" in wrong
    assert "have no filter" in wrong


def test_a_lost_question_shows_expected_beside_found_and_the_plan_that_would_find_it(
    reader: Client, evaluation: str
) -> None:
    plan = Plan(
        (Anchor("a", "Amber Road"),), (Hop("a", "directed_by", "T", "person", "out"),), Target("T", ("person",))
    )
    fate = AnswerFate("person/1", "Ada Holm", "person", None, Loss(LostStage.LINKED, "It starts elsewhere."),
                      {"text": 7, "graph": None})  # fmt: skip
    attribution = Attribution(
        20, 1, Loss(LostStage.LINKED, "It starts elsewhere."), {LostStage.LINKED: 1}, (fate,),
        (FoundNode(1, "film/1", "Amber Road", "film", False),),
        (ListCoverage("graph", "graph list", 0, 0, 3), ListCoverage("text", "text list", 0, 1, 3)),
        PossiblePlan(plan, 1.0, 1, 1, 0.125, 2, None),
    )  # fmt: skip
    Outcome.objects.filter(question__position=2, pipeline="path").update(lost_at="linked", lost=attribution.to_json())
    told = page(reader, "evaluation-question", evaluation, 2)
    for expected in ("Wrong entity.", "It starts elsewhere.", "Ada Holm", "Text <b>7</b>", "not in Graph",
                     'class="chip anchor"', "Amber Road",
                     "the planner gave it 12.5 % (rank 2), and it was not executed."):  # fmt: skip
        assert expected in told
    assert reader.get(reverse("evaluation-question", args=[evaluation, 3])).status_code == 404


def test_two_pipelines_are_compared_question_by_question(reader: Client, evaluation: str) -> None:
    told = page(reader, "evaluations-compare", a=evaluation, b=evaluation, pipeline_a="text", pipeline_b="path")
    assert "3 questions in common." in told
    assert "B wins" in told
    wrong = page(reader, "evaluations-compare", a=evaluation, b=evaluation, metric="H@7")
    assert "metric is one of" in wrong
    assert "Choose two" in page(reader, "evaluations-compare", a="no id")


def test_files_are_downloaded_and_unknown_ones_not_found(reader: Client, evaluation: str) -> None:
    answer = reader.get(reverse("evaluation-file", args=[evaluation]), {"format": "run", "pipeline": "text"})
    content = b"".join(answer.streaming_content).decode()  # type: ignore[attr-defined]
    assert content.splitlines()[0].startswith("q1 Q0 film/1 1 ")
    assert reader.get(reverse("evaluation-file", args=[evaluation]), {"format": "docx"}).status_code == 404
    assert reader.get(reverse("evaluation-report", args=[uuid4()])).status_code == 404


def test_a_comparison_opens_with_the_newest_two_and_the_questions_that_differ(reader: Client, evaluation: str) -> None:
    own = page(reader, "evaluations-compare")
    assert own.count(f'value="{evaluation}" selected') == 2, "its two pipelines are compared"
    assert re.search(r'name="pipeline_b">.*<option selected>path</option>', own)
    other = evaluate(
        knowledge_base="films", examples=EXAMPLES, split="val", pipelines=["path"], settings={"fuse.k": 7}
    )["evaluation"]
    told = page(reader, "evaluations-compare")
    # Settings are said in words, with what they do; the name that files have for them stands below.
    assert re.search(
        r'scope="row">Retrieve: depth<span class="dim">[^<]+</span><code class="dim">retrieve.depth</code>', told
    )
    assert '<td data-label="A">–</td><td data-label="B">Plan, Link, Traverse, Rescore, Fuse, Check</td>' in told
    assert "OPTIONS" not in told
    a, b = re.findall(r'value="([\w-]+)" selected', told.partition('name="metric"')[0])
    assert (a, b) == (evaluation, str(other))
    assert '<option value="different" selected>those that differ' in told
    same = page(reader, "evaluations-compare", a=evaluation, b=evaluation, pipeline_a="path", pipeline_b="path")
    assert "Both answer every question equally well by MRR." in same
    every = page(
        reader, "evaluations-compare", a=evaluation, b=evaluation, pipeline_a="path", pipeline_b="path", change=""
    )
    assert every.count('<tr class="same">') == 3


def test_evaluations_are_named_after_what_differs(films: KnowledgeBase) -> None:
    def made(**given: Any) -> Evaluation:
        usual = {"knowledge_base": films, "release_name": "films-1", "questions": 3, "code_version": "1",
                 "specifications": [pin("grasp", 2)]}  # fmt: skip
        return Evaluation.objects.create(**usual | given)

    def pin(label: str, version: int, k: int = 60) -> dict[str, Any]:
        spec = {"stages": {"fuse": {"OPTIONS": {"k": k}}}}
        return {
            "label": label,
            "pipeline": label,
            "version": version,
            "specification": spec,
            "specification_hash": str(k),
        }

    first, newer = made(), made(specifications=[pin("grasp", 3)])
    assert list(named_evaluations([newer, first]).values()) == ["films: grasp@3", "films: grasp@2"]
    val = made(split="val", questions=2)
    assert named_evaluations([val, first])[val.pk] == "films: val · 2 questions · grasp@2"
    other = made(specifications=[pin("grasp", 2, k=5)])
    assert named_evaluations([other, first])[other.pk] == "films: grasp@2 · Fuse: k 5"
    twin = made()
    names = named_evaluations([twin, first])
    assert names[twin.pk].startswith("films: grasp@2 · ")
