"""The client of rerank servers: against llama.cpp's own server, and one that behaves badly in every way there is."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.adapters.scorer_http import HttpScorer
from search.domain.errors import DeadlineExceeded, SearchCancelled, StageError
from search.domain.trace import Limit
from tests import gemma, misbehaving
from tests.misbehaving import KEY, Reply, Server

DOCUMENTS = ["a cat is an animal", "the sky is blue today", "no"]


def scores(*pairs: tuple[Any, Any], **extra: Any) -> Reply:
    return Reply.json({"results": [{"index": at, "relevance_score": score, **extra} for at, score in pairs]})


@pytest.fixture
def server() -> Iterator[Server]:
    with misbehaving.running(scores((1, 0.5), (2, -3.25), (0, 7))) as running:
        yield running


def scorer(server: Server, **options: Any) -> HttpScorer:
    return HttpScorer("kestrel", server.url, "bge", KEY, **options)


def test_scores_come_back_in_the_order_of_the_documents(server: Server) -> None:
    """vLLM and llama.cpp answer best first, and name each document by its place."""
    found = scorer(server).score("what is a cat?", DOCUMENTS, Limit.seconds(10))
    assert found.tolist() == [7.0, 0.5, -3.25]
    expected = {"query": "what is a cat?", "documents": DOCUMENTS, "top_n": 3, "model": "bge"}
    assert server.requests == [expected]
    assert server.headers[0]["Authorization"] == f"Bearer {KEY}"
    assert scorer(server).score("?", [], Limit()).tolist() == []
    HttpScorer("kestrel", server.url).score("?", DOCUMENTS, Limit.seconds(10))
    assert "model" not in server.requests[-1]


@pytest.mark.parametrize(
    ("reply", "said", "permanent"),
    [
        (scores((0, 1.0), (1, 2.0)), "gave no score for 1 of 3 documents, so it is no reranker", True),
        (scores((0, "high"), (1, None), (2, True)), "gave no score for 3 of 3 documents", True),
        (scores((7, 1.0), (-1, 1.0), ("0", 1.0)), "gave no score for 3 of 3 documents", True),
        (Reply(body='{"results": [{"index": 0, "relevance_score": NaN}]}'), "gave no score for 3 of 3", True),
        (Reply.json([1, 2, 3]), "gave no score for 3 of 3 documents", True),
        (misbehaving.HTML, "answered with a web page instead of JSON", True),
        (misbehaving.UNAUTHORISED, "does not accept the key (HTTP 401)", True),
        (misbehaving.FAILING, "failed (HTTP 503): out of memory", False),
        (misbehaving.CUT_OFF, "broke the connection off", False),
        (misbehaving.ENDLESS, "sent more than 4 MiB", True),
    ],
)
def test_what_a_server_does_wrong_is_said(reply: Reply, said: str, permanent: bool, server: Server) -> None:
    server.replies = [reply]
    with pytest.raises(StageError) as caught:
        scorer(server).score("?", DOCUMENTS, Limit.seconds(20))
    assert said in caught.value.reason
    assert caught.value.reason.startswith("bge at the reranker kestrel ")
    assert (caught.value.permanent, KEY in str(caught.value)) == (permanent, False)


def test_a_server_that_is_away_is_said() -> None:
    with pytest.raises(StageError, match="cannot be reached"):
        HttpScorer("kestrel", "http://127.0.0.1:9/v1").score("?", DOCUMENTS, Limit.seconds(10))


def test_a_slow_server_is_not_waited_for(server: Server) -> None:
    server.replies = [misbehaving.SLOW]
    with pytest.raises(DeadlineExceeded):
        scorer(server).score("?", DOCUMENTS, Limit.seconds(0.2))
    with pytest.raises(StageError, match="did not answer within"):
        scorer(server, timeout=0.1).score("?", DOCUMENTS, Limit.seconds(20))
    with pytest.raises(SearchCancelled):
        scorer(server).score("?", DOCUMENTS, Limit(cancelled=lambda: True))


@gemma.needs_gemma
def test_llama_cpp_reranks(tmp_path: Path) -> None:
    """The scores are those that the server itself sends to a plain request."""
    with gemma.reranking_server(gemma.model_file(tmp_path)) as url:
        body = json.dumps({"query": "what is a cat?", "documents": DOCUMENTS}).encode()
        request = urllib.request.Request(f"{url}/rerank", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=60) as answer:
            sent = {one["index"]: one["relevance_score"] for one in json.load(answer)["results"]}
        found = HttpScorer("llama", url).score("what is a cat?", DOCUMENTS, Limit.seconds(60))
        np.testing.assert_allclose(found, [sent[at] for at in range(3)], rtol=1e-4)
        assert len(set(found.tolist())) == 3
        with pytest.raises(StageError, match="knows no such address or model"):
            HttpScorer("llama", f"{url}/elsewhere").score("?", DOCUMENTS, Limit.seconds(20))
