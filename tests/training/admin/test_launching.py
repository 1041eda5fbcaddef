"""The form that launches a training: the learner's settings are fields, and it says how many questions are needed."""

from __future__ import annotations

import re
from dataclasses import fields

import pytest
from django.contrib.auth.models import User
from django.http import QueryDict
from django.test import Client
from django.urls import reverse

from search.admin.job_form import LaunchForm
from search.models import Job, KnowledgeBase, PipelineVersion
from training.learning.reranker_settings import RerankerSettings
from training.models import QuestionSet

pytestmark = pytest.mark.django_db


@pytest.fixture
def staff() -> Client:
    client = Client()
    client.force_login(User.objects.create_superuser("admin", password="x"))
    return client


@pytest.fixture
def sets(films: KnowledgeBase) -> list[QuestionSet]:
    """A set that is large enough, and one of whose questions only a few may be learned from."""
    made = [("many", {"": 40}, 40), ("split", {"train": 12, "val": 50}, 62)]
    return [
        QuestionSet.objects.create(
            knowledge_base=films, name=name, version=1, splits=splits, questions_count=count, content_hash=name
        )
        for name, splits, count in made
    ]


def address(kind: str, **given: str) -> str:
    return reverse("admin:search_job_launch") + "?" + "&".join(f"{k}={v}" for k, v in {"kind": kind, **given}.items())


def field(page: str, name: str) -> str:
    """Return the part of the page from a field to the next one."""
    begin = page.index(f'name="{name}"')
    return page[begin : page.index('class="job-field"', begin)]


def test_every_setting_is_a_field_with_default_help_and_bounds(staff: Client, sets: list[QuestionSet]) -> None:
    page = staff.get(address("train_reranker")).content.decode()
    shown = field(page, "argument-settings.epochs")
    assert 'placeholder="2"' in shown
    assert "Passes over the questions, if `steps` allows so many. Default: 2, from 1 to 200." in shown
    choices = re.findall(r'<option value="([^"]*)"', field(page, "argument-settings.method"))
    assert choices == ["", "whole", "lora"]
    # The JSON is still there for experts, after the fields, and empty.
    assert "Settings as JSON, for experts" in page
    assert page.index("argument-settings.seed") < page.index('name="argument-settings"')
    assert page.count('name="argument-settings.') == len(fields(RerankerSettings))


def test_it_says_how_many_questions_are_needed_and_which_sets_have_too_few(
    staff: Client, sets: list[QuestionSet]
) -> None:
    page = staff.get(address("train_reranker")).content.decode()
    shown = field(page, "question_set")
    assert "It takes 20 questions to learn from at least" in shown
    assert "many@1 · films · 40 questions<" in shown
    assert "split@1 · films · 62 questions, 12 to learn from: too few<" in shown
    evaluation = field(staff.get(address("evaluate")).content.decode(), "question_set")
    assert "too few" not in evaluation
    assert "It takes" not in evaluation


def test_too_few_synthesised_questions_are_told_under_their_field_with_the_number(
    staff: Client, sets: list[QuestionSet]
) -> None:
    page = staff.get(address("train_retriever")).content.decode()
    assert "Without a question set it takes 200 at least." in field(page, "argument-synthesised")
    given = {"knowledge_base": "films", "argument-limit": "0", "argument-synthesised": "150"}
    page = staff.post(address("train_retriever"), given).content.decode()
    assert "There are 150 synthesised questions to learn from and no others; it takes 200." in field(
        page, "argument-synthesised"
    )
    assert not Job.objects.exists()
    staff.post(address("train_retriever"), given | {"argument-synthesised": "200"})
    assert Job.objects.get().arguments["synthesised"] == 200


def test_what_is_out_of_bounds_is_told_at_its_field_and_opens_the_settings(
    staff: Client, sets: list[QuestionSet]
) -> None:
    given = {"knowledge_base": "films", "question_set": "films/many@1", "argument-settings.steps": "900"}
    page = staff.post(address("train_planner"), given).content.decode()
    assert "less than or equal to 200" in field(page, "argument-settings.steps")
    assert '<details class="job-settings" open>' in page
    json = {**given, "argument-settings.steps": "", "argument-settings": '{"steps": 900, "step": 2}'}
    page = staff.post(address("train_planner"), json).content.decode()
    assert "must be between 1 and 200" in field(page, "argument-settings.steps")
    assert "has no setting &#x27;step&#x27;" in page
    assert not Job.objects.exists()


def test_fields_and_json_together_are_the_settings_and_a_clone_shows_them_as_fields(
    staff: Client, sets: list[QuestionSet]
) -> None:
    job = Job.objects.create(
        kind="train_planner", specification_hash="1", knowledge_base_name="films",
        arguments={"settings": {"steps": 7, "gone": 1}},
    )  # fmt: skip
    page = staff.get(address("train_planner", like=str(job.pk))).content.decode()
    assert 'value="7"' in field(page, "argument-settings.steps")
    assert "&quot;gone&quot;: 1" in page[page.index('name="argument-settings"') :]

    form = LaunchForm("train_planner", {
        "knowledge_base": "films", "question_set": "films/many@1", "argument-limit": "0", "argument-synthesised": "0",
        "argument-settings": '{"steps": 3, "folds": 4}', "argument-settings.steps": "7",
    })  # fmt: skip
    assert form.is_valid(), form.errors
    assert form.values()["arguments"]["settings"] == {"steps": 7, "folds": 4}


def test_no_split_is_a_choice_and_not_the_default() -> None:
    """The default is *val*, and a set without splits has no question in it."""
    form = LaunchForm("tune", {
        "knowledge_base": "films", "question_set": "films/many@1", "argument-part": "fusion", "argument-split": "",
        "argument-limit": "0",
    })  # fmt: skip
    assert form.fields["argument-split"].choices[-1] == ("", "–")
    form.is_valid()
    assert form.values()["arguments"]["split"] == ""
    assert "pipeline" not in form.values()["arguments"]


def test_a_training_of_everything_has_the_settings_of_each_learner(staff: Client, sets: list[QuestionSet]) -> None:
    page = staff.get(address("train_all")).content.decode()
    assert "Planner: settings" in page
    assert "Reranker: settings" in page
    assert 'name="argument-settings.planner.steps"' in page


def test_pipelines_splits_releases_and_learners_are_picked(staff: Client, sets: list[QuestionSet]) -> None:
    base = KnowledgeBase.objects.get(name="films")
    PipelineVersion.objects.create(knowledge_base=base, pipeline="path", version=7)
    page = staff.get(address("evaluate")).content.decode()
    boxes = re.findall(r'name="argument-pipelines" value="([^"]+)"', page)
    assert boxes[-1] == "path@7"
    assert "path" in boxes
    assert re.findall(r'<option value="([^"]*)"', field(page, "argument-split")) == ["", "train", "val"]
    assert re.findall(r'<option value="([^"]*)"', field(page, "release")) == ["", "films-1"]
    assert "split@1 · films · 62 questions (12 train, 50 val)" in field(page, "question_set")
    learners = re.findall(r'name="argument-learners" value="([^"]+)"', staff.get(address("train_all")).content.decode())
    assert "ranker" in learners


def test_what_was_picked_is_launched_and_a_clone_keeps_what_is_offered_no_more(
    staff: Client, sets: list[QuestionSet]
) -> None:
    form = LaunchForm("evaluate", QueryDict(
        "knowledge_base=films&question_set=films/split@1&release=films-1&argument-split=val&argument-limit=0"
        "&argument-seed=1&argument-repeated=0&argument-processes=0&argument-pipelines=path"
    ))  # fmt: skip
    assert form.is_valid(), form.errors
    values = form.values()
    assert values["release"] == "films-1"
    assert values["arguments"]["pipelines"] == ["path"]
    assert values["arguments"]["split"] == "val"
    job = Job.objects.create(
        kind="evaluate", specification_hash="1", knowledge_base_name="films",
        arguments={"pipelines": ["path fuse.k=5"], "split": "gone"},
    )  # fmt: skip
    page = staff.get(address("evaluate", like=str(job.pk))).content.decode()
    assert re.search(r'name="argument-pipelines" value="path fuse.k=5"[^>]*checked', page)
    assert '<option value="gone" selected>' in field(page, "argument-split")


def test_a_schedule_can_take_the_newest_version_of_a_question_set_each_time(
    staff: Client, sets: list[QuestionSet]
) -> None:
    page = staff.get(reverse("admin:search_jobschedule_add") + "?kind=evaluate&question_set=lost").content.decode()
    choices = re.findall(r'<option value="([^"]*)"', field(page, "question_set"))
    # Without a version first, then each version.
    assert choices == ["", "films/many", "films/split", "films/many@1", "films/split@1", "/lost"]
    assert "many · films · the newest version each time" in page
