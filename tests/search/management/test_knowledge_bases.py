"""The commands of knowledge bases: what they print, and how they end."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from pytest_django.fixtures import Settings

from search import wiring
from search.models import KnowledgeBase
from tests.search.ingest import bundles


@pytest.fixture(autouse=True)
def quick_encoder(settings: Settings) -> None:
    settings.GRASP_TOOLS = settings.GRASP_TOOLS | {"encoder": {"BACKEND": "tests.fakes.HashEncoder"}}
    wiring.forget()


@pytest.mark.django_db
def test_json_is_one_object_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_kb", str(bundles.write(tmp_path)), "--json")
    shown = capsys.readouterr()
    report = json.loads(shown.out)
    assert shown.err == ""
    assert report["knowledge_base"] == "films"
    assert (report["nodes"], report["edges"], report["bad_rows"], report["release"]) == (3, 2, 0, "films-1")
    assert isinstance(report["snapshot"], int)
    assert set(report["seconds"]) == {"check", "load", "index", "total"}


@pytest.mark.django_db
def test_people_get_a_line_and_progress_on_stderr(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    call_command("import_kb", str(bundles.write(tmp_path, edges=[*bundles.EDGES, bundles.EDGES[0]])), "--no-index")
    shown = capsys.readouterr()
    assert shown.out.startswith("films: 3 nodes, 2 edges, 0 bad rows; snapshot ")
    assert "Checking entities" in shown.err
    assert "Note: edges.jsonl: 1 rows repeat an earlier relation" in shown.err


@pytest.mark.django_db
def test_equal_faults_are_one_line_with_their_number_and_three_examples(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    films = [{"id": f"x{at}", "type": "film", "name": "X", "fields": {"year": f"y{at}"}} for at in range(178)]
    types = {"film": {"fields": {"year": {"type": "number"}}}, "person": {}}
    nodes = [*bundles.NODES, *films, {"id": "x", "type": "song", "name": "X"}]
    source = bundles.write(tmp_path, nodes, node_types=types)
    with pytest.raises(CommandError, match="179 bad rows"):
        call_command("import_kb", str(source), "--dry-run", "--report", str(tmp_path / "report"))
    shown = capsys.readouterr().err.splitlines()
    (line,) = [line for line in shown if "year" in line]
    assert line == (
        "178 rows: nodes.jsonl:4: The field 'year' is declared as number, but 'y0' is not a number."
        " · nodes.jsonl:5: The field 'year' is declared as number, but 'y1' is not a number."
        " · nodes.jsonl:6: The field 'year' is declared as number, but 'y2' is not a number."
    )
    assert [line for line in shown if "song" in line] == [
        "nodes.jsonl:182: Unknown type 'song'; kb.json lists the known ones."
    ]
    lines = [json.loads(line) for line in (tmp_path / "report").read_text().splitlines()]
    assert [one["level"] for one in lines] == ["bad"] * 179 + ["group", "total"]
    group = lines[-2]
    assert (group["kind"], group["column"], group["rows"], group["line"]) == ("bad_value", "year", 178, line)
    assert [(one["file"], one["row"]) for one in group["examples"]] == [("nodes.jsonl", at) for at in (4, 5, 6)]
    with pytest.raises(CommandError, match="179 bad rows"):
        call_command("import_kb", str(source), "--dry-run", "--json")
    report = json.loads(capsys.readouterr().out)
    assert next((one["column"], one["rows"], one["line"]) for one in report["fault_groups"]) == ("year", 178, line)


@pytest.mark.django_db
def test_a_failed_import_ends_with_1_and_says_where(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = bundles.write(tmp_path, [*bundles.NODES, {"id": "x", "type": "song", "name": "X"}])
    for json_wanted in (True, False):
        with pytest.raises(CommandError, match="1 bad row, 0 tolerated") as failure:
            call_command("import_kb", str(source), *(["--json"] if json_wanted else []))
        assert failure.value.returncode == 1
        shown = capsys.readouterr()
        if json_wanted:
            report = json.loads(shown.out)
            assert (report["bad_rows"], report["snapshot"], report["faults"][0]["row"]) == (1, None, 4)
            assert "1 bad row," in report["error"]
        else:
            assert "nodes.jsonl:4: Unknown type 'song'" in shown.err


@pytest.mark.django_db
@pytest.mark.parametrize(
    "arguments",
    [
        ["import_kb", "nowhere"],
        ["import_kb", ".", "--name", "a b"],
        ["import_kb", ".", "--report", "nowhere/report.jsonl"],
        ["activate_release", "nope", "1"],
        ["drop_release", "nope", "1"],
        ["export_kb", "nope", "out"],
    ],
    ids=" ".join,
)
def test_bad_arguments_end_with_2(arguments: list[str]) -> None:
    with pytest.raises(CommandError) as failure:
        call_command(*arguments)
    assert failure.value.returncode == 2


@pytest.mark.django_db
def test_a_negative_tolerance_is_a_bad_argument() -> None:
    with pytest.raises(CommandError, match="has to be 0 or more"):
        call_command("import_kb", ".", "--tolerance=-1")


@pytest.mark.django_db
def test_a_release_is_activated_exported_and_dropped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = str(bundles.write(tmp_path / "films"))
    call_command("import_kb", source)
    call_command("import_kb", source, "--no-activate")
    call_command("activate_release", "films", "films-2")
    call_command("export_kb", "films", str(tmp_path / "out"))
    with pytest.raises(CommandError, match="exists and is not empty") as failure:
        call_command("export_kb", "films", str(tmp_path / "out"))
    assert failure.value.returncode == 1
    call_command("drop_release", "films", "1")
    with pytest.raises(CommandError, match="is the active release") as failure:
        call_command("drop_release", "films", "2")
    assert failure.value.returncode == 1
    capsys.readouterr()
    call_command("list_kbs", "--json")
    [listed] = json.loads(capsys.readouterr().out)["knowledge_bases"]
    assert [release["release"] for release in listed["releases"]] == ["films-2"]
    call_command("import_kb", str(tmp_path / "out"), "--name", "copy", "--no-index", "--json")
    assert json.loads(capsys.readouterr().out)["edges"] == 2
    call_command("list_kbs")
    assert " * films-2: ready, 3 nodes, 2 edges" in capsys.readouterr().out


@pytest.mark.django_db
def test_an_export_without_an_active_release_is_refused(tmp_path: Path) -> None:
    KnowledgeBase.objects.create(name="empty")
    with pytest.raises(CommandError, match="'empty' has no active release to export"):
        call_command("export_kb", "empty", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


@pytest.mark.django_db
def test_the_demo_is_loaded_once(capsys: pytest.CaptureFixture[str]) -> None:
    call_command("load_demo")
    assert set(KnowledgeBase.objects.filter(active_release__isnull=False).values_list("name", flat=True)) == {
        "products",
        "papers",
        "biomedical",
    }
    capsys.readouterr()
    call_command("load_demo")
    assert capsys.readouterr().out == "The demo knowledge bases are there already.\n"
