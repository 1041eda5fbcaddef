"""`make llm`: a real server that says where it is, stops at Ctrl-C, and a sentence for everything that is missing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.home import Home
from grasp_site.embedded.llm import server
from grasp_site.embedded.llm.server import LanguageModelServer, gemma_file
from tests.gemma import needs_gemma
from tests.grasp_site.embedded.conftest import PROJECT, free_port

PATIENCE_SECONDS = 60.0


def started(home: Home, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "grasp_site.embedded.llm", *options],
        cwd=PROJECT,
        env={**os.environ, "GRASP_HOME": str(home.root)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def ended(home: Home, *options: str) -> tuple[int, str]:
    """Return the exit code and the output of a server that does not start."""
    process = started(home, *options)
    output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    return process.returncode, " ".join(output.split())


@needs_gemma
def test_it_prints_the_values_of_the_settings_serves_and_stops_at_ctrl_c(home: Home) -> None:
    port = free_port()
    process = started(home, "--port", str(port), "--context", "256", "--slots", "1")
    assert process.stdout is not None
    lines = []
    while "Ready: " not in (line := process.stdout.readline()):
        assert line, f"it ended: {lines}"
        lines.append(" ".join(line.split()))
    assert line.strip() == f"Ready: LLM_BASE_URL=http://127.0.0.1:{port}/v1 LLM_MODEL=gemma-3-270m"
    assert any("the Gemma Terms of Use apply to it (https://ai.google.dev/gemma/terms)" in said for said in lines)
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/v1/models") as answer:
        assert json.load(answer)["data"][0]["id"] == "gemma-3-270m"
    # A second one on the same port is told so.
    code, said = ended(home, "--port", str(port))
    assert (code, f"Port {port} cannot be used" in said) == (1, True)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=PATIENCE_SECONDS) == 0


@needs_gemma
def test_a_file_that_is_no_model_is_refused_with_a_sentence(home: Home, tmp_path: Path) -> None:
    text, broken = tmp_path / "notes.gguf", tmp_path / "broken.gguf"
    text.write_text("no model")
    broken.write_bytes(b"GGUF" + bytes(100))
    missing = tmp_path / "missing.gguf"
    for model, why in ((text, "is no GGUF file"), (missing, "is no GGUF file"), (broken, "llama.cpp cannot serve")):
        code, said = ended(home, "--port", str(free_port()), "--model", str(model))
        assert (code, why in said) == (1, True), said


def test_without_the_extra_it_says_how_to_install_it_and_whose_terms_that_accepts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "GEMMA_PACKAGE", "no_such_model_package")
    monkeypatch.setattr(server, "LLAMA_CPP", "no_such_llama_package")
    with pytest.raises(EmbeddedError) as caught:
        gemma_file(tmp_path)
    assert str(caught.value) == (
        "Gemma 3 270M is not installed. Read the Gemma Terms of Use, which apply to the model "
        "(https://ai.google.dev/gemma/terms); then `make llm GEMMA_TERMS=accepted` installs it with llama.cpp."
    )
    with pytest.raises(EmbeddedError, match=r"llama\.cpp is not installed\."):
        LanguageModelServer(tmp_path / "any.gguf")


@needs_gemma
def test_the_model_is_put_together_once(tmp_path: Path) -> None:
    path = gemma_file(tmp_path)
    written = path.stat().st_mtime_ns
    assert gemma_file(tmp_path) == path
    assert path.stat().st_mtime_ns == written
    assert sorted(one.name for one in tmp_path.iterdir()) == ["assembling.lock", "gemma-3-270m.gguf"]
