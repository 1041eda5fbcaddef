"""The documentation builds without a dead link, and the site serves it by itself under a strict policy."""

import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.test import Client, override_settings

from grasp_site.documentation import build as builder
from grasp_site.documentation.policy import attributes_refused, directives, hash_source
from tests.conftest import PROJECT

RESOURCE = re.compile(
    r"<(?:script|img|iframe|source)[^>]*\ssrc=\"?([^\" >]+)|<link[^>]*rel=\"?stylesheet\"?[^>]*href=\"?([^\" >]+)"
)

# An example of a page of somebody else's site.
OF_OTHER_SITES = ("embed-demo.html",)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Yield the folder of the built pages; MkDocs is strict, so that a dead link, a dead anchor or a page outside the
    navigation fails here."""
    with override_settings(GRASP_DOCS=tmp_path_factory.mktemp("built")):
        yield builder.build()


@pytest.fixture
def client() -> Client:
    return Client(headers={"host": "localhost"})


def test_no_page_asks_anything_of_another_host_or_needs_inline_style(site: Path) -> None:
    pages = [path for path in site.rglob("*.html") if path.name not in OF_OTHER_SITES]
    assert len(pages) > 20
    for path in pages:
        text = path.read_text(encoding="utf-8")
        assert attributes_refused(text) == set(), path
        resources = [first or second for first, second in RESOURCE.findall(text)]
        assert resources
        assert not [address for address in resources if "//" in address], path


def test_dead_links_dead_anchors_and_pages_outside_the_navigation_fail_the_build(tmp_path: Path) -> None:
    for name in ("docs", "docs-theme"):
        shutil.copytree(PROJECT / name, tmp_path / name)
    shutil.copy(PROJECT / "mkdocs.yml", tmp_path)
    (tmp_path / "docs" / "orphan.md").write_text("# Orphan\n[a](gone.md) [b](jobs.md#nowhere)\n")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")],
        cwd=tmp_path, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode != 0
    assert "gone.md" in done.stderr
    assert "#nowhere" in done.stderr
    assert 'not included in the "nav"' in done.stderr


def test_pages_are_served_with_a_policy_that_allows_exactly_their_inline_scripts(site: Path, client: Client) -> None:
    answer = client.get("/docs/")
    assert answer.status_code == 200
    policy = answer["Content-Security-Policy"]
    assert "unsafe" not in policy
    inline = set(re.findall(r"<script>(.*?)</script>", answer.content.decode(), flags=re.DOTALL))
    assert inline
    assert all(hash_source(text) in policy for text in inline)
    assert "style-src" not in policy


def test_addresses_of_pages_files_and_nothing(site: Path, client: Client) -> None:
    assert client.get("/docs/importing/").status_code == 200
    assert client.get("/docs/importing").headers["Location"] == "/docs/importing/"
    assert client.get("/docs/screenshot.png")["Content-Type"] == "image/png"
    assert client.get("/docs/search/search_index.json").status_code == 200
    for missing in ("nope/", "policy.json", "../settings.py", "a\0b", "search/"):
        assert client.get(f"/docs/{missing}").status_code in (400, 404), missing
    assert client.post("/docs/").status_code == 405


def test_a_page_is_sent_again_only_after_a_change_and_the_themes_files_never(site: Path, client: Client) -> None:
    first = client.get("/docs/jobs/")
    assert first["Cache-Control"] == "no-cache"
    assert client.get("/docs/jobs/", headers={"if-none-match": first["ETag"]}).status_code == 304
    [bundle] = (site / "assets" / "javascripts").glob("bundle.*.min.js")
    assert "immutable" in client.get(f"/docs/assets/javascripts/{bundle.name}")["Cache-Control"]


def test_while_the_pages_are_being_built_the_site_says_so(tmp_path: Path, client: Client) -> None:
    with override_settings(GRASP_DOCS=tmp_path):
        early = client.get("/docs/jobs/")
        assert early.status_code == 503
        assert "are being built" in early.content.decode()
        assert early["Refresh"]
        # Waits for the process that the request has started, or is the one that builds.
        builder.build()
        assert client.get("/docs/jobs/").status_code == 200


def test_a_build_that_failed_is_told_until_the_sources_change(tmp_path: Path, client: Client) -> None:
    with override_settings(GRASP_DOCS=tmp_path):
        (tmp_path / builder.FAILURE).write_text(f"{builder.built().name}\nWARNING - the link gone.md is not found")
        answer = client.get("/docs/")
        assert answer.status_code == 503
        assert "gone.md is not found" in answer.content.decode()
        assert "Refresh" not in answer
        (tmp_path / builder.FAILURE).write_text("0123456789abcdef\nof other sources")
        assert builder.failure() == ""


def test_a_policy_is_computed_from_what_pages_hold_inline(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text(
        "<script>alert('hi')</script><script src='x.js'></script><script type='application/json'>{}</script>"
    )
    # The hash of alert('hi'), computed with: printf "alert('hi')" | openssl dgst -sha256 -binary | openssl base64
    expected = "'sha256-XTqNqFSUlZHAW7f/OGNYSOEzxKhjdAAGMXoid2VEbJk='"
    found = directives(tmp_path)
    assert found["script-src"] == ["'self'", expected]
    assert "style-src" not in found
    assert attributes_refused("<p style='color:red' onclick='x()'>") == {"style", "onclick"}
