import json
import re
import socket
from io import StringIO
from pathlib import Path

import ir_measures
import pytest
from django.core.management import call_command
from django.utils import timezone

from search.models import Job, KnowledgeBase, SearchRun

# Text retrieval of the small pipelines gives film/1, film/2, film/3, in this order, to every question.
QUESTIONS = [
    {"id": "q1", "text": "first", "answers": ["film/1"], "split": "val", "hops": 0},
    {"id": "q 2", "text": "third", "answers": ["film/3"], "split": "val", "hops": 1},
    {"id": "q3", "text": "nowhere", "answers": ["person/1"], "split": "val", "hops": 1},
    {"id": "q4", "text": "left out", "answers": ["film/1"], "split": "train"},
]


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in QUESTIONS))
    return path


def run(*arguments: str) -> dict[str, object]:
    out = StringIO()
    call_command("evaluate", *arguments, "--json", stdout=out)
    return json.loads(out.getvalue())


def test_the_report_has_the_figures_worked_out_by_hand(films: KnowledgeBase, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = run("films", "--questions", str(questions), "--split", "val", "--pipeline", "text", "--output", str(out))
    part = report["pipelines"]["text"]
    assert report["questions"] == 3
    assert report["release"] == "films-1"
    assert (part["answered"], part["empty"], part["errors"]) == (3, 0, 0)
    # Ranks 1, 3 and none: hits at 1 are 1 of 3, at 5 2 of 3; reciprocal ranks 1, 1/3, 0.
    assert part["metrics"] == {"H@1": 33.33, "H@5": 66.67, "R@20": 66.67, "MRR": 44.44, "R-precision": 33.33}
    assert part["slices"]["hops"]["1"]["questions"] == 2
    assert part["lost_at"] == {"retrieved": 1, "ranked": 1}
    assert json.loads((out / "report.json").read_text()) == report


def test_the_trec_files_say_the_same_to_ir_measures(films: KnowledgeBase, questions: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("films", "--questions", str(questions), "--split", "val", "--pipeline", "text", "--output", str(out))
    found = ir_measures.calc_aggregate(
        [ir_measures.RR, ir_measures.Success @ 1],
        ir_measures.read_trec_qrels(str(out / "qrels")),
        ir_measures.read_trec_run(str(out / "text.run")),
    )
    assert found[ir_measures.RR] == pytest.approx((1 + 1 / 3) / 3)
    assert found[ir_measures.Success @ 1] == pytest.approx(1 / 3)


def test_a_question_that_cannot_be_asked_is_an_error_and_stays_in_the_mean(
    films: KnowledgeBase, tmp_path: Path
) -> None:
    path = tmp_path / "questions.jsonl"
    rows = [QUESTIONS[0], {"id": "long", "text": "x" * 10_000, "answers": ["film/1"]}]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    part = run("films", "--questions", str(path), "--pipeline", "text", "--output", str(tmp_path / "o"))["pipelines"]
    assert (part["text"]["answered"], part["text"]["errors"]) == (1, 1)
    assert part["text"]["metrics"]["H@1"] == 50.0


def test_every_search_of_an_evaluation_is_recorded(films: KnowledgeBase, questions: Path, tmp_path: Path) -> None:
    run("films", "--questions", str(questions), "--split", "train", "--pipeline", "text", "--output", str(tmp_path))
    origins = set(SearchRun.objects.values_list("origin", "status"))
    assert origins == {("evaluation", "done")}


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["nowhere", "--questions", "FILE"], "There is no knowledge base 'nowhere'."),
        (["films", "--questions", "FILE", "--pipeline", "magic"], "There is no pipeline 'magic'."),
        (["films", "--questions", "FILE", "--set", "retrieve.depth=0"], "must be between 1 and 100"),
        (["films", "--questions", "FILE", "--set", "depth"], "--set takes key=value"),
        (["films", "--questions", "FILE", "--split", "test"], "its splits are: train, val"),
        (["films", "--questions", "/nowhere.jsonl"], "cannot be read"),
    ],
)
def test_bad_arguments_get_a_sentence_and_exit_2(
    films: KnowledgeBase, questions: Path, tmp_path: Path, arguments: list[str], sentence: str
) -> None:
    given = [str(questions) if argument == "FILE" else argument for argument in arguments]
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("evaluate", *given, "--output", str(tmp_path / "out"), stderr=errors)
    assert ended.value.code == 2
    assert sentence in errors.getvalue()
    assert not (tmp_path / "out" / "report.json").exists()


def test_the_first_time_left_follows_from_former_jobs_and_the_number_of_questions(
    films: KnowledgeBase, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    # On this machine, the parts of six evaluations took twice the seconds of a reference machine.
    parts = [
        {"name": "text", "size": 59.5, "seconds": 119.5},
        {"name": "text, asked again", "size": 1.5, "seconds": 3.5},
    ]
    for number in range(6):
        Job.objects.create(
            kind="evaluate", specification_hash=f"{number}", state="done", worker_host=socket.gethostname()[:255],
            finished=timezone.now(), progress={"parts": parts},
        )  # fmt: skip
    path = tmp_path / "many.jsonl"
    rows = ({"id": str(at), "text": f"number {at}", "answers": ["film/1"]} for at in range(600))
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["films", "--questions", str(path), "--pipeline", "text", "--no-attribution", "--processes", "1"]
    call_command("evaluate", *arguments, "--output", str(tmp_path / "out"))
    # 600 questions and 20 that are asked again have a size of a tenth of a second each, which are 124 s here.
    assert re.search(r"time left .* minutes$", capsys.readouterr().err.splitlines()[0])
