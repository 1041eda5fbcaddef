"""The Python client, generated from the API of today: the examples of its guide, and what it does at a running site."""

from __future__ import annotations

import importlib
import importlib.util
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import pytest

from tests import own_loop
from tests.browser.asking import ANSWERS, QUESTION
from tests.browser.conftest import Site
from tests.conftest import PROJECT

GUIDE = (PROJECT / "docs" / "python-client.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ModuleType]:
    """Yield the package `grasp_search_client`, made by client/generate.py for this test."""
    path = PROJECT / "client" / "generate.py"
    specification = importlib.util.spec_from_file_location("generate_client", path)
    assert specification is not None
    assert specification.loader is not None
    generator = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(generator)
    folder: Path = tmp_path_factory.mktemp("client")
    generator.package(folder)
    sys.path.insert(0, str(folder))
    yield importlib.import_module(generator.PACKAGE)
    sys.path.remove(str(folder))
    for name in [name for name in sys.modules if name.split(".")[0] == generator.PACKAGE]:
        del sys.modules[name]


def test_the_examples_of_the_guide_run(client: ModuleType, site: Site, capsys: pytest.CaptureFixture[str]) -> None:
    assert len(EXAMPLES) == 5
    for example in EXAMPLES:
        compiled = compile(example.replace("http://127.0.0.1:8000", site.url), "python-client.md", "exec")
        # In a thread of its own, for an example may start an event loop.
        with ThreadPoolExecutor(1) as own:
            own.submit(exec, compiled, {}).result()
    said = capsys.readouterr().out
    assert "\ndone\n" in said
    assert "['Ingunn Aas']" in said
    assert "products" in said.split("400 ")[1]


def test_sync_and_async_ask_the_same(client: ModuleType, site: Site) -> None:
    async def asynchronously() -> list[str]:
        async with client.AsyncGrasp(site.url) as grasp:
            search = await grasp.ask(QUESTION, "products")
            kinds = [event.kind async for event in grasp.events(search.id)]
            assert kinds[-1] == "done"
            assert [base.name async for base in grasp.knowledge_bases()].count("products") == 1
            return [result.node.id for result in search.results]

    with client.Grasp(site.url) as grasp:
        search = grasp.ask(QUESTION, "products")
        assert {result.node.id for result in search.results[:2]} == ANSWERS
        assert [result.node.id for result in search.results] == own_loop.run(asynchronously())
        names = [node.id for node in grasp.nodes("products")]
        assert len(names) == len(set(names)) > 100


def test_what_does_not_end_in_time_and_what_is_refused(client: ModuleType, site: Site) -> None:
    with client.Grasp(site.url) as grasp, site.worker_asleep():
        with pytest.raises(client.NotFinished, match="it goes on") as late:
            grasp.ask(QUESTION, "products", seconds=0.3)
        assert grasp.cancel(late.value.search.id).status in ("queued", "cancelled")
    with client.Grasp(site.url, "wrong") as stranger, pytest.raises(client.GraspError, match="token is not") as refused:
        stranger.search(late.value.search.id)
    assert refused.value.status == 401


def test_events_are_read_as_the_html_standard_says(client: ModuleType) -> None:
    """By the rules of section 9.2.6: comments, several lines of data, ids that stay, and an unfinished event."""
    lines = importlib.import_module("grasp_search_client.common").EventLines()
    text = ': hello\nid: 3\nevent: plan\ndata: {"a":\ndata: 1}\n\ndata:2\n\nid: 4\n\nevent: done\ndata: []'
    events = [event for line in text.split("\n") for event in lines.read(line)]
    assert events == [client.Event("plan", {"a": 1}, "3"), client.Event("message", 2, "3")]
    assert lines.last == "4"
