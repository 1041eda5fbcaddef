"""The services of `docker/full.yml` as plain processes: containers themselves are not run by any test."""

import json
import shutil
import tempfile
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from grasp_site.embedded.home import PROJECT
from tests.containers import UNVERIFIED, Composed, composed
from tests.neo4j_server import required

PAPERS = PROJECT / "search" / "fixtures" / "demo" / "papers"
DOMAIN = "localhost"


@pytest.fixture(scope="module")
def site() -> Iterator[Composed]:
    """Yield the full set, migrated and with every service of its own images healthy."""
    # Not in pytest's temporary folder, which other users cannot enter.
    root = Path(tempfile.mkdtemp(prefix="grasp-composed-", dir="/tmp"))
    try:
        with composed(root, {"GRASP_DOMAIN": DOMAIN, "GRASP_WEB_PROCESSES": "2"}) as found:
            assert found.start("migrate").wait(timeout=120) == 0, found.log("migrate")
            for name in ("web", "search", "jobs", "beat"):
                found.start(name)
            found.await_health("web", "search", "jobs", "beat")
            yield found
    finally:
        shutil.rmtree(root, ignore_errors=True)


@pytest.fixture(scope="module")
def papers(site: Composed) -> Composed:
    """The full set with a knowledge base."""
    done = site.run("jobs", ["python", "manage.py", "import_kb", str(PAPERS)])
    assert done.returncode == 0, done.stderr
    return site


def test_the_full_set_imports_a_knowledge_base_and_answers_a_search(papers: Composed) -> None:
    question = {"knowledge_base": "papers", "question": "Which venues published work on permafrost?"}
    answer = _asked(papers, f"http://127.0.0.1:{papers.ports['web']}", question)
    assert answer["status"] == "done"
    assert answer["results"]


def test_migrating_again_changes_nothing_and_tells_no_password(site: Composed) -> None:
    done = site.run("migrate", site.services["migrate"]["command"])
    assert (done.returncode, done.stdout) == (0, "")


def test_a_wrong_name_in_the_settings_stops_the_start_and_is_told(site: Composed) -> None:
    process = site.start("migrate", GRASP_QUEUE_LENGHT="5")
    assert process.wait(timeout=60) == 1
    assert "GRASP_QUEUE_LENGHT is not a setting" in site.log("migrate")
    assert "the nearest setting is GRASP_QUEUE_LENGTH." in site.log("migrate")


def test_the_proxy_serves_the_site_over_tls_and_hides_the_figures(site: Composed) -> None:
    program = shutil.which("caddy")
    if program is None:
        pytest.skip("needs Caddy: apt-get install --no-install-recommends caddy")
    site.start_proxy(program)
    secure = f"https://{DOMAIN}:{site.ports['https']}"
    site.until_answers(f"{secure}/api/v1/healthz/")
    with _opened(f"{secure}/api/v1/healthz/") as response:
        assert json.load(response) == {"alive": True}
    with _opened(f"{secure}/") as response:
        assert response.headers["Strict-Transport-Security"] == "max-age=3600"
        assert "__Host-" in response.headers["Set-Cookie"] or "Secure" in response.headers["Set-Cookie"]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        _opened(f"{secure}/metrics")


def test_neo4j_starts_with_the_settings_of_the_file_and_holds_a_copy_of_the_graph(papers: Composed) -> None:
    with required("Neo4j"):
        papers.start_neo4j()
    papers.await_health("neo4j")
    done = papers.run("jobs", ["python", "manage.py", "sync_graph", "papers", "--json"])
    assert done.returncode == 0, done.stderr
    compared = papers.run("jobs", ["python", "manage.py", "sync_graph", "papers", "--check", "--json"])
    assert compared.returncode == 0, compared.stdout
    papers.processes["neo4j"].terminate()
    papers.until_unhealthy("neo4j")


def test_the_health_check_of_a_worker_that_is_gone_fails(site: Composed) -> None:
    worker = site.processes["jobs"]
    worker.terminate()
    worker.wait(timeout=30)
    site.until_unhealthy("jobs")
    assert "No worker of the queue jobs" in site.health("jobs").stderr


def _asked(site: Composed, address: str, question: dict[str, str]) -> dict[str, Any]:
    request = urllib.request.Request(
        f"{address}/api/v1/searches/?wait=25",
        json.dumps(question).encode(),
        {"Content-Type": "application/json", "Host": DOMAIN, "X-Forwarded-Proto": "https"},
    )
    with urllib.request.urlopen(request, timeout=40) as response:
        return dict(json.load(response))


def _opened(address: str) -> Any:
    """Return the response; the certificate is one that Caddy has signed itself."""
    return urllib.request.urlopen(address, timeout=10, context=UNVERIFIED)
