"""`synthesise`, and `train --synthesised`: what they print, and the sentences for what cannot be done."""

from __future__ import annotations

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from search.models import Artifact, Job, KnowledgeBase
from search.services.knowledge.import_snapshot import import_snapshot
from tests.search.ingest import bundles
from training.data.examples import read_all

pytestmark = pytest.mark.django_db


def said(command: str, *arguments: str) -> str:
    out = StringIO()
    call_command(command, *arguments, stdout=out, stderr=StringIO())
    return out.getvalue()


def refused(code: int, command: str, *arguments: str) -> str:
    errors = StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command(command, *arguments, stderr=errors)
    assert ended.value.code == code
    return errors.getvalue()


def test_the_command_writes_questions_and_prints_what_they_are(makers_base: KnowledgeBase, tmp_path: Path) -> None:
    path = tmp_path / "made.jsonl"
    printed = said("synthesise", "makers", "--output", str(path), "--number", "30", "--seed", "2")
    assert printed.startswith(f"30 questions of makers-1 are in {path}.\n")
    report: dict[str, Any] = json.loads(said("synthesise", "makers", "--output", str(path), "--number", "30", "--json"))
    assert (report["questions"], report["seed"]) == (30, 0)
    assert len(read_all(path)) == 30
    assert set(Job.objects.values_list("kind", "state")) == {("synthesise", "done")}


def test_fewer_questions_than_wanted_are_told(makers_base: KnowledgeBase, tmp_path: Path) -> None:
    nodes = [{"id": name, "type": "ding", "name": name, "fields": {}} for name in ("Eins", "Zwei")]
    edges = [{"source": "Eins", "relation": "zu", "target": "Zwei"}]
    source = bundles.write(tmp_path / "b", nodes, edges, name="two", node_types={"ding": {}}, language="xx")
    import_snapshot(source=source)
    report = json.loads(said("synthesise", "two", "--output", str(tmp_path / "a"), "--number", "5000", "--json"))
    assert 0 < report["questions"] < report["wanted"] == 5000


@pytest.mark.parametrize(
    ("code", "arguments", "sentence"),
    [
        (2, ["nowhere"], "There is no knowledge base 'nowhere'."),
        (2, ["makers", "--seed", "99999999999"], "seed must be between 0 and 2147483647"),
        (2, ["makers", "--number", "9999999"], "number must be between 1 and 1000000"),
        (1, ["makers", "--output", "/nowhere/made.jsonl"], "No such file or directory"),
    ],
)
def test_what_cannot_be_done_gets_a_sentence(
    makers_base: KnowledgeBase, tmp_path: Path, code: int, arguments: list[str], sentence: str
) -> None:
    output = [] if "--output" in arguments else ["--output", str(tmp_path / "made.jsonl")]
    assert sentence in refused(code, "synthesise", *arguments, *output)
    assert not (tmp_path / "made.jsonl").exists()


def test_numbers_below_one_are_refused(makers_base: KnowledgeBase, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="a whole number from 1 on, not '0'"):
        call_command("synthesise", "makers", "--output", str(tmp_path / "made.jsonl"), "--number", "0")


def test_a_training_needs_questions_or_makes_them(makers_base: KnowledgeBase) -> None:
    assert "--questions FILE, --synthesised, or both" in refused(2, "train", "planner", "makers")
    assert "which is missing" in refused(2, "train", "planner", "makers", "--synthesised", "--limit", "5")
    assert not Artifact.objects.exists()
    report = json.loads(
        said(
            "train",
            "planner",
            "makers",
            "--synthesised",
            "30",
            "--set",
            "steps=1",
            "--json",
            "--unproven",
        )
    )
    assert (report["questions"], report["synthesised"]["number"], report["active"]) == (0, 30, True)
    assert Artifact.objects.get().configuration["synthesised"]["number"] == 30
