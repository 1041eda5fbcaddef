"""`tune`: a version where the questions bear it out, a sentence where they do not."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from search.models import KnowledgeBase, PipelineVersion, SearchRun
from search.services.pipelines.save_pipeline_version import save_pipeline_version
from tests.search import small
from training.data.examples import read_examples
from training.models import ChosenOptions
from training.services.evaluate import evaluate

# The graph finds film/1 and film/2 for every question. Text lists film/1 last where its score is 0.1, and first else.
LAST = {f"film/1 please, number {number}" for number in range(24)}


@pytest.fixture
def fusing(films: KnowledgeBase, monkeypatch: pytest.MonkeyPatch) -> KnowledgeBase:
    """The films, whose pipeline `path` fuses as the site's does; its graph says `no_trade`, so the text leads."""
    monkeypatch.setitem(small.PIPELINES["path"]["STAGES"], "fuse", {"BACKEND": "tests.search.small.Weigh"})
    small.SCORES.update(dict.fromkeys(LAST, 0.1))
    return films


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    rows = [
        {"id": f"q{place}", "text": text, "answers": ["film/1"], "split": "val"}
        for place, text in enumerate(sorted(LAST))
    ]
    rows += [{"id": "few", "text": "what else", "answers": ["film/1"], "split": "train"}]
    rows += [{"id": "t", "text": "hidden", "answers": ["film/1"], "split": "test"}]
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def run(*arguments: str) -> dict[str, Any]:
    out = StringIO()
    call_command("tune", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_settings_that_questions_bear_out_become_the_version_in_use(fusing: KnowledgeBase, questions: Path) -> None:
    report = run("films", "--questions", str(questions), "--split", "val")
    assert (report["questions"], report["errors"], report["release"]) == (24, 0, "films-1")
    assert (report["decided"], report["pipeline_version"], report["active"]) == (True, 1, True)
    assert report["before"]["metrics"]["H@1"] == 0
    assert report["after"]["metrics"] == dict.fromkeys(("H@1", "H@5", "R@20", "MRR", "R-precision"), 100.0)
    assert report["gain"]["intervals"]["H@1"] == [100.0, 100.0]
    version = PipelineVersion.objects.get(knowledge_base=fusing, active=True)
    assert version.options == report["after"]["options"]
    assert version.options["fuse.method"] == "static"
    assert version.note.startswith("Fusion tuned on 24 questions of split val. On 24 questions that had no part in")
    assert "H@1 changes by +100.00" in version.note
    again = run("films", "--questions", str(questions), "--split", "val")
    assert again["before"]["options"] == report["after"]["options"]
    assert (again["decided"], again["pipeline_version"]) == (False, None)
    assert "those in use, which stay" in again["reason"]


def seen(questions: Path, output: Path) -> tuple[int, dict[str, int]]:
    """Return what a report over all questions but the hidden one counts as seen, in all and by what learned."""
    examples = [example for example in read_examples(questions) if example.split != "test"]
    report = evaluate(
        knowledge_base="films", examples=examples, split=None, pipelines=["path"], settings={}, output=output
    )
    part = report["pipelines"]["path"]
    return part["seen_in_training"], part["seen_by"]


def test_questions_that_fusion_was_tuned_on_are_counted_while_its_settings_are_in_use(
    fusing: KnowledgeBase, questions: Path, tmp_path: Path
) -> None:
    assert seen(questions, tmp_path) == (0, {})
    run("films", "--questions", str(questions), "--split", "val")
    kept = ChosenOptions.objects.get()
    assert (kept.pipeline_version.version, kept.part, kept.split, len(kept.hashes)) == (1, "fusion", "val", 24)
    assert kept.question_set is not None
    held = set(kept.question_set.questions.filter(split="val").values_list("hash", flat=True))
    assert held == set(kept.hashes)
    assert seen(questions, tmp_path) == (24, {"fusion": 24})
    # A later version that takes the settings over was chosen on the same questions; one with others was not.
    save_pipeline_version(knowledge_base=fusing, pipeline="path", options={})
    assert seen(questions, tmp_path) == (24, {"fusion": 24})
    save_pipeline_version(knowledge_base=fusing, pipeline="path", options={"fuse.k": 33.0})
    assert seen(questions, tmp_path) == (0, {})


def test_a_version_can_be_saved_without_being_used(fusing: KnowledgeBase, questions: Path) -> None:
    save_pipeline_version(knowledge_base=fusing, pipeline="path", options={"fuse.k": 9.0})
    report = run("films", "--questions", str(questions), "--split", "val", "--no-activate")
    assert (report["pipeline_version"], report["active"]) == (2, False)
    assert report["before"]["options"]["fuse.k"] == 9.0
    assert PipelineVersion.objects.get(knowledge_base=fusing, active=True).version == 1


def test_too_few_questions_save_nothing_and_say_so(fusing: KnowledgeBase, questions: Path) -> None:
    report = run("films", "--questions", str(questions), "--split", "train")
    assert report["reason"] == "Too few questions to choose by (1). The settings in use stay."
    assert (report["decided"], report["pipeline_version"]) == (False, None)
    assert not PipelineVersion.objects.exists()


def test_the_searches_are_recorded_as_an_evaluation(fusing: KnowledgeBase, questions: Path) -> None:
    run("films", "--questions", str(questions), "--split", "train")
    assert list(SearchRun.objects.values_list("origin", "status", "purpose")) == [("evaluation", "done", "few")]


def test_a_question_that_cannot_be_asked_is_an_error_and_stays_in_the_mean(
    fusing: KnowledgeBase, tmp_path: Path
) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [{"id": str(n), "text": text, "answers": ["film/1"]} for n, text in enumerate(["short", "x" * 10_000])]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    report = run("films", "--questions", str(path))
    assert (report["errors"], report["before"]["metrics"]["H@1"]) == (1, 50.0)


def test_people_get_a_table_and_the_reason(
    fusing: KnowledgeBase, questions: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("tune", "films", "--questions", str(questions), "--split", "val")
    shown = capsys.readouterr().out
    assert "100.0–100.0" in shown
    assert "had no part in the choice" in shown
    assert "path 1 is in use:" in shown
    assert 'fuse.method = "static"' in shown


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "--questions", "FILE", "--split", "val"], "There is no knowledge base 'nowhere'."),
        (["films", "--questions", "FILE", "--split", "test"], "Tuning on the split 'test' would make its figures"),
        (["films", "--questions", "FILE"], "Tuning on the split 'test' would make its figures"),
        (["films", "--questions", "FILE", "--split", "hidden"], "Tuning on the split 'hidden' would make its figures"),
        (["films", "--questions", "FILE", "--split", "val", "--pipeline", "magic"], "There is no pipeline 'magic'."),
        (["films", "--questions", "FILE", "--split", "val", "--pipeline", "text"], "These can be tuned: path."),
        (["films", "--questions", "/nowhere.jsonl"], "cannot be read"),
    ],
)
def test_bad_arguments_get_a_sentence_and_exit_2(
    fusing: KnowledgeBase, questions: Path, arguments: list[str], sentence: str
) -> None:
    given = [str(questions) if argument == "FILE" else argument for argument in arguments]
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("tune", *given, stderr=errors)
    assert ended.value.code == 2
    assert sentence in errors.getvalue()
    assert not SearchRun.objects.filter(status=SearchRun.Status.DONE).exists()
