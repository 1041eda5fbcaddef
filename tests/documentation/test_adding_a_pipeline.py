"""The code of the page on adding a pipeline is written to files, composed by the site, and its own test is run."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.utils.module_loading import import_string
from markdown_it import MarkdownIt
from pytest_django.fixtures import Settings

import search.pipelines
import search.stages
import tests.search.pipelines
from search import checks
from search.adapters.adjacency_memmap import MemmapAdjacency
from search.domain.question import Question
from search.domain.trace import Trace
from search.stages.retrieve import Bm25
from search.wiring import pipeline
from tests.docs_blocks import DOCS
from tests.fakes import HashEncoder, MemoryText, MemoryVectors
from tests.graphs import Nodes, schema_of, write_adjacency
from tests.search.stages.doubles import TriesEverything

PACKAGES = {
    "search/stages": search.stages,
    "search/pipelines": search.pipelines,
    "tests/search/pipelines": tests.search.pipelines,
}
NAMED = re.compile(r"# (?P<folder>[a-z/]+)/(?P<module>\w+)\.py\n")


def python_blocks() -> list[str]:
    """Return the fenced blocks of Python of the page, in order."""
    read = MarkdownIt("commonmark").parse((DOCS / "adding-a-pipeline.md").read_text(encoding="utf-8"))
    return [token.content for token in read if token.type == "fence" and token.info == "python"]


@pytest.fixture
def written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settings: Settings) -> Iterator[dict[str, str]]:
    """Write each block into the file that its first line names, the row into the settings; yield the modules' names."""
    stage, function, row, test = python_blocks()
    names = {}
    for block in (stage, function, test):
        named = NAMED.match(block)
        assert named, f"The first line names no file: {block.splitlines()[0]}"
        folder = tmp_path / named["folder"]
        folder.mkdir(parents=True)
        (folder / f"{named['module']}.py").write_text(block, encoding="utf-8")
        package = PACKAGES[named["folder"]]
        monkeypatch.setattr(package, "__path__", [*package.__path__, str(folder)])
        names[named["folder"]] = f"{package.__name__}.{named['module']}"
    importlib.invalidate_caches()
    settings.GRASP_PIPELINES = ast.literal_eval(f"{{{row}}}")
    settings.GRASP_DEFAULT_PIPELINE = "popular"
    yield names
    for name in names.values():
        sys.modules.pop(name, None)


def test_the_checks_have_nothing_against_the_row_of_the_page(written: dict[str, str]) -> None:
    assert checks.check_pipelines() == []


def test_the_test_of_the_page_passes(written: dict[str, str], tmp_path: Path) -> None:
    module = importlib.import_module(written["tests/search/pipelines"])
    functions = [function for name, function in vars(module).items() if name.startswith("test_")]
    assert functions
    for at, function in enumerate(functions):
        (tmp_path / str(at)).mkdir()
        function(tmp_path / str(at))


def test_the_pipeline_of_the_page_answers_with_explained_results(written: dict[str, str], tmp_path: Path) -> None:
    example = importlib.import_module(written["tests/search/pipelines"]).GRAPH
    schema, encoder = schema_of(example), HashEncoder()
    write_adjacency(example, schema, tmp_path)
    documents = {node.key: encoder.vector(node.name) for node in example.nodes}
    tools = {
        "text": MemoryText({0: 2.0, 1: 1.0}), "encoder": encoder, "nodes": Nodes(example, schema),
        "vectors": MemoryVectors({"document+relations": documents}), "graph": TriesEverything(example),
        "adjacency": MemmapAdjacency(tmp_path, schema),
    }  # fmt: skip
    composed = pipeline("popular")
    stages = {}
    for name, row in composed.rows.items():
        stage = Bm25 if name == "retrieve" else import_string(row["BACKEND"])
        fields = {field.name for field in dataclasses.fields(stage)}
        stages[name] = stage(
            **{tool: value for tool, value in tools.items() if tool in fields}, **row.get("OPTIONS", {})
        )
    trace = Trace()
    ranking = composed.search(Question("tide or gale"), composed.stages(**stages), trace)
    # By hand, k is 20: Gale is first of the popular and second of the text, Tide second and first, and the scores are
    # equal; the order of equal scores is by cosine. The person is in no list.
    assert sorted(ranking.keys) == [0, 1]
    assert ranking.scores[0] == ranking.scores[1] == pytest.approx(1 / 21 + 1 / 22)
    assert [step.status for step in trace.steps] == ["ok"] * 4
