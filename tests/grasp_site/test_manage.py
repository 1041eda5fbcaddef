"""Commands without a database: a sentence, whichever command it is."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import PROJECT


@pytest.mark.parametrize(
    "command",
    [
        ("index_kb", "products"),
        ("evaluate", "products", "--questions", "search/fixtures/demo/products/questions.jsonl", "--output", "report"),
    ],
)
def test_a_command_whose_database_is_away_ends_with_a_sentence(tmp_path: Path, command: tuple[str, ...]) -> None:
    with socket.socket() as closed:
        # Bound, but nobody listens: no other program can take the port meanwhile.
        closed.bind(("127.0.0.1", 0))
        address = f"postgres://grasp:a-secret@127.0.0.1:{closed.getsockname()[1]}/grasp"
        ended = subprocess.run(
            [sys.executable, "manage.py", *command], cwd=PROJECT, capture_output=True, text=True, check=False,
            env=os.environ | {"GRASP_HOME": str(tmp_path), "DATABASE_URL": address},
        )  # fmt: skip
    assert ended.returncode == 1
    assert "Postgres does not answer" in ended.stderr
    assert "Give the command again once it runs" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert "a-secret" not in ended.stdout + ended.stderr
