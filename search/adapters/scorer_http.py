"""A reranker behind HTTP: vLLM's and llama.cpp's `rerank` (also Jina's and Cohere's form).

The request holds `model`, `query` and `documents`; the answer holds `results`, each with `index` and
`relevance_score`, in any order. vLLM answers at `/rerank` and `/v1/rerank`, llama.cpp's server at `/v1/rerank`.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from search.adapters.llm_openai.background import background
from search.adapters.llm_openai.exchange import exchange, session
from search.adapters.llm_openai.server import Server, ServerFault
from search.domain.errors import DeadlineExceeded, StageError
from search.domain.trace import Limit
from search.models.sealed import Secret
from search.text import DocumentForm

STAGE = "rerank"
AT_ONCE = 16
"""Documents of one request."""


class HttpScorer:
    """A reranker of a server (interfaces.Scorer).

    `base_url` is used as given; `rerank` is appended to it. `model` is the name that the server knows, empty for a
    server with one model. `timeout` is in seconds, for one request. `device` has no meaning for a server.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        model: str = "",
        key: str = "",
        timeout: float = 30.0,
        at_once: int = AT_ONCE,
        device: str = "",
    ) -> None:
        self.name = f"{model} at {name}" if model else name
        self.at_once = at_once
        self.form: DocumentForm | None = None
        self.mix: tuple[float, float] | None = None
        self._server = Server(f"the reranker {name}", base_url, model, Secret(key), timeout)

    def score(self, question: str, documents: Sequence[str], limit: Limit) -> NDArray[np.float64]:
        """Return the server's scores, in the order of the documents; see interfaces.Scorer."""
        limit.check(STAGE)
        if not documents:
            return np.zeros(0)
        body: dict[str, Any] = {"query": question, "documents": list(documents), "top_n": len(documents)}
        if self._server.model:
            body["model"] = self._server.model
        try:
            answer = background().run(self._asked(body, limit), limit, STAGE)
        except ServerFault as fault:
            if limit.remaining() <= 0:
                raise DeadlineExceeded(STAGE) from None
            raise StageError(
                STAGE, f"{self._server.shown} {fault.reason}".rstrip("."), permanent=not fault.again
            ) from None
        return self._scores(answer, len(documents))

    async def _asked(self, body: Mapping[str, Any], limit: Limit) -> Any:
        seconds = min(self._server.timeout, max(0.0, limit.ends - time.monotonic()))
        async with session(self._server) as http:
            return await exchange(http, self._server, "rerank", body, seconds)

    def _scores(self, answer: Any, count: int) -> NDArray[np.float64]:
        """Return the scores of an answer. Raises StageError unless it has one finite score for each document."""
        results = answer.get("results") if isinstance(answer, dict) else None
        scores = np.full(count, np.nan)
        for result in results if isinstance(results, list) else ():
            place = result.get("index") if isinstance(result, dict) else None
            score = result.get("relevance_score") if isinstance(result, dict) else None
            usable = isinstance(score, int | float) and not isinstance(score, bool) and math.isfinite(score)
            if isinstance(place, int) and 0 <= place < count and usable:
                scores[place] = float(score or 0.0)
        missing = int(np.isnan(scores).sum())
        if missing:
            reason = f"{self._server.shown} gave no score for {missing} of {count} documents, so it is no reranker"
            raise StageError(STAGE, reason, permanent=True)
        return scores
