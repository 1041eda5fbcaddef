"""The three judges over real HTTP: what they ask, how often, the order that comes of it, and bad answers."""

from __future__ import annotations

import json
import math
import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from search.adapters.llm_openai import Call, ConfiguredLanguageModel
from search.adapters.llm_openai import Server as Address
from search.domain.conversation import Completion, Prompt
from search.domain.fusion import Fusion
from search.domain.graph import Node
from search.domain.question import Question
from search.domain.trace import Limit
from search.domain.triplets import TripletQuery
from search.interfaces.triplets import Grounding, SymbolCandidates
from search.stages.judge import JudgeListwise, JudgePairwise, JudgePointwise
from search.stages.judge.base import Judge
from search.stages.judge.pairwise import insert
from tests import misbehaving
from tests.fakes import HashEncoder, MemoryVectors
from tests.graphs import Nodes
from tests.misbehaving import Body, Reply, Server
from tests.oracle import Graph
from tests.rankings import ranked
from tests.search.stages.ground.test_fixpoint import adjacency_of

WHO = Question("Which is the largest?")
SIZE = 8
GRAPH = Graph(
    tuple(
        Node(key, f"{key:02}", "film", f"Film {key}", fields={"plot": f"value {key * 7 % 11}"}) for key in range(SIZE)
    ),
    (),
)
"""Film k has the value 7 k mod 11: 0, 7, 3, 10, 6, 2, 9, 5."""
BEST_FIRST = (3, 6, 1, 4, 7, 2, 5, 0)
BEFORE = Fusion.single("joined", ranked({key: 1.0 - key / 100 for key in range(SIZE)}))


class NoLog:
    """Stores nothing."""

    def find(self, server: Address, prompt: Prompt) -> Completion | None:
        return None

    def record(self, call: Call) -> None:
        pass


def values_in(body: Body) -> list[int]:
    return [int(value) for value in re.findall(r"value (\d+)", body["messages"][-1]["content"])]


def judges(body: Body) -> Reply:
    """Answer each way of asking as somebody does who knows the values."""
    values, wanted = values_in(body), body["messages"][0]["content"]
    if '"score"' in wanted:
        return Reply.says(json.dumps({"score": values[0] / 10}))
    if '"order"' in wanted:
        order = sorted(range(len(values)), key=lambda at: -values[at])
        return Reply.says(json.dumps({"order": [at + 1 for at in order]}))
    return Reply.says(json.dumps({"better": 1 if values[0] > values[1] else 2}))


@contextmanager
def judged_by(
    kind: type[Judge], folder: Path, respond: Callable[[Body], Reply], **options: Any
) -> Iterator[tuple[Judge, Server]]:
    """Give a judge that asks a server with these answers."""
    with misbehaving.running() as server:
        server.respond = respond
        model = ConfiguredLanguageModel(NoLog(), Address("kestrel", server.url, "tiny-1"))
        adjacency = adjacency_of(folder, GRAPH, ())
        nodes = Nodes(GRAPH, adjacency.schema)
        yield kind(model, nodes, adjacency, HashEncoder(), MemoryVectors({"document+relations": {}}), **options), server


def judge(
    kind: type[Judge], folder: Path, respond: Callable[[Body], Reply], k: int = SIZE, **options: Any
) -> tuple[Fusion, Server]:
    with judged_by(kind, folder, respond, **options) as (stage, server):
        grounding = Grounding(TripletQuery(), SymbolCandidates({}), wanted=k)
        return stage(WHO, BEFORE, grounding, Limit.seconds(20)), server


@pytest.mark.parametrize(("kind", "prompts"), [(JudgePointwise, 8), (JudgeListwise, 1), (JudgePairwise, 16)])
def test_each_judge_sorts_by_its_answers(kind: type[Judge], prompts: int, tmp_path: Path) -> None:
    found, server = judge(kind, tmp_path, judges)
    assert found.ranking.keys == BEST_FIRST
    assert (found.detail, found.status) == ("", "ok")
    assert len(server.requests) == prompts
    assert vars(found)["tokens"]["completion"] == 34 * prompts
    assert all(WHO.text in body["messages"][-1]["content"] for body in server.requests)
    assert len({body["messages"][0]["content"] for body in server.requests}) == 1


@pytest.mark.parametrize("kind", [JudgePointwise, JudgeListwise, JudgePairwise])
def test_only_the_first_k_change_places_and_the_sums_add_up(kind: type[Judge], tmp_path: Path) -> None:
    found, _ = judge(kind, tmp_path, judges, k=3)
    assert found.ranking.keys == (1, 2, 0, 3, 4, 5, 6, 7)
    scores = [candidate.score for candidate in found.ranking]
    assert scores == sorted(scores, reverse=True)
    for candidate in found.ranking:
        shares = found.leaves(candidate.key)
        assert sum(share.contribution for share in shares.values()) == pytest.approx(candidate.score, abs=1e-9)


def test_equal_scores_keep_the_order_before(tmp_path: Path) -> None:
    found, _ = judge(JudgePointwise, tmp_path, lambda body: Reply.says(f"{0.9 if values_in(body)[0] > 6 else 0.1}"))
    assert found.ranking.keys == (1, 3, 6, 0, 2, 4, 5, 7)


PROSE = Reply.says("Both of these are wonderful films, and I enjoyed reading about them very much.")


@pytest.mark.parametrize(("kind", "prompts"), [(JudgePointwise, 8), (JudgeListwise, 1), (JudgePairwise, 3)])
def test_a_judge_that_answers_prose_leaves_the_order_before_with_a_sentence(
    kind: type[Judge], prompts: int, tmp_path: Path
) -> None:
    found, server = judge(kind, tmp_path, lambda body: PROSE)
    assert found.ranking == BEFORE.ranking
    assert found.detail.startswith("The order before stays: ")
    assert (found.status, len(server.requests)) == ("degraded", prompts)


@pytest.mark.parametrize("kind", [JudgePointwise, JudgeListwise, JudgePairwise])
@pytest.mark.parametrize(
    "reply", [misbehaving.FAILING, misbehaving.HTML, misbehaving.EMPTY_CHOICE], ids=["503", "html", "empty"]
)
def test_a_broken_server_leaves_the_order_before_with_a_sentence(
    kind: type[Judge], reply: Reply, tmp_path: Path
) -> None:
    found, _ = judge(kind, tmp_path, lambda body: reply, seconds=2.0)
    assert found.ranking == BEFORE.ranking
    assert found.detail.startswith("The order before stays: ")


@pytest.mark.parametrize("kind", [JudgePointwise, JudgeListwise, JudgePairwise])
def test_a_silent_server_keeps_the_search_no_longer_than_allowed(kind: type[Judge], tmp_path: Path) -> None:
    began = time.monotonic()
    found, _ = judge(kind, tmp_path, lambda body: misbehaving.SLOW, seconds=0.3)
    assert time.monotonic() - began < 3
    assert found.ranking == BEFORE.ranking
    assert found.detail.startswith("The order before stays: ")


def test_comparisons_until_the_time_is_over_count(tmp_path: Path) -> None:
    asked: list[Body] = []

    def respond(body: Body) -> Reply:
        asked.append(body)
        return judges(body) if len(asked) <= 6 else misbehaving.SLOW

    # Film 1 before 0; 2 by two comparisons, 3 by two: 3, 1, 2, 0. The sixth comparison begins with film 4.
    found, _ = judge(JudgePairwise, tmp_path, respond, seconds=0.8)
    assert found.ranking.keys == (3, 1, 2, 0, 4, 5, 6, 7)
    assert found.detail.startswith("Only the first 4 of 8 were compared: ")


def test_one_unreadable_score_counts_a_half(tmp_path: Path) -> None:
    found, _ = judge(JudgePointwise, tmp_path, lambda body: PROSE if values_in(body) == [10] else judges(body))
    # 0.9, 0.7, 0.6, then film 3 with 0.5 beside film 7, which stands behind it in the order before.
    assert found.ranking.keys == (6, 1, 4, 3, 7, 2, 5, 0)
    assert found.detail.startswith("A possible answer without a readable score counts 0.5: 1 of 8 answers are missing")


@pytest.mark.parametrize(
    ("answer", "order"),
    [
        ('{"order": [3, 99, 3, 1]}', (2, 0, 1, 3, 4, 5, 6, 7)),
        ('{"order": ["2"]}', (1, 0, 2, 3, 4, 5, 6, 7)),
        ("8, 7, 6, 5, 4, 3, 2, 1", (7, 6, 5, 4, 3, 2, 1, 0)),
        ("[2, 1]", (1, 0, 2, 3, 4, 5, 6, 7)),
    ],
)
def test_invented_and_missing_numbers_of_a_list_are_dealt_with(
    answer: str, order: tuple[int, ...], tmp_path: Path
) -> None:
    found, _ = judge(JudgeListwise, tmp_path, lambda body: Reply.says(answer))
    assert found.ranking.keys == order
    missing = 0 if answer.startswith("8") else 8 - len({n for n in re.findall(r"\d+", answer) if int(n) <= 8})
    assert found.detail == (f"The judge left out {missing} of 8 possible answers." if missing else "")


def test_a_model_that_repeats_the_question_for_ever_is_cut_off_and_leaves_the_order(tmp_path: Path) -> None:
    found, _ = judge(JudgeListwise, tmp_path, lambda body: Reply.says(f"{WHO.text} " * 10_000, "length"))
    assert found.ranking == BEFORE.ranking
    assert "cut off" in found.detail


def test_no_model_or_a_single_candidate_leave_the_order(tmp_path: Path) -> None:
    class Nobody:
        def configured(self) -> bool:
            return False

        def complete(self, prompts: Sequence[Prompt], limit: Limit) -> list[Any]:
            raise AssertionError

    with judged_by(JudgePairwise, tmp_path, judges) as (stage, server):
        alone = Grounding(TripletQuery(), SymbolCandidates({}), wanted=1)
        assert stage(WHO, BEFORE, alone, Limit()) is BEFORE
        without = JudgePairwise(Nobody(), stage.nodes, stage.adjacency, stage.encoder, stage.vectors)
        found = without(WHO, BEFORE, Grounding(TripletQuery(), SymbolCandidates({})), Limit())
    assert server.requests == []
    assert found.detail == "The order before stays: no language model is configured."


@pytest.mark.parametrize("size", [1, 2, 3, 7, 20, 33])
def test_binary_insertion_sorts_with_at_most_the_logarithm_of_comparisons(size: int) -> None:
    most = sum(math.ceil(math.log2(number)) for number in range(2, size + 1))
    worst = 0
    for seed in range(50):
        worth = np.random.default_rng(seed).permutation(size).tolist()
        placed, compared = sorted_by(worth)
        assert [worth[at] for at in placed] == sorted(worth, reverse=True)
        assert len(set(compared)) == len(compared) <= most
        worst = max(worst, len(compared))
    assert size != 20 or (most == 69 and worst > 55)


def sorted_by(worth: Sequence[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the positions in the order of binary insertion, and the comparisons that were made."""
    compared: list[tuple[int, int]] = []

    def better(one: int, other: int) -> bool:
        compared.append((one, other))
        return worth[one] > worth[other]

    placed: list[int] = []
    for new in range(len(worth)):
        insert(placed, new, better)
    return placed, compared


def test_a_prompt_that_is_too_long_gets_shorter_descriptions(tmp_path: Path) -> None:
    long = Graph(
        tuple(Node(key, f"{key:02}", "film", f"Film {key}", fields={"plot": f"value {key} " + "x" * 700})
              for key in range(SIZE)),
        (),
    )  # fmt: skip
    with judged_by(JudgePairwise, tmp_path, judges, context=2_000) as (stage, server):
        short = replace(stage, nodes=Nodes(long, stage.adjacency.schema))
        found = short(WHO, BEFORE, Grounding(TripletQuery(), SymbolCandidates({}), wanted=3), Limit.seconds(20))
    assert found.detail == "Descriptions were shortened: relations are left out, and texts are cut."
    assert found.ranking.keys[:3] == (2, 1, 0)
    assert all(len(body["messages"][-1]["content"]) < 1_200 for body in server.requests)


def test_binary_insertion_leaves_equals_in_their_order() -> None:
    placed: list[int] = []
    for new in range(9):
        insert(placed, new, lambda one, other: one % 3 > other % 3)
    assert placed == [2, 5, 8, 1, 4, 7, 0, 3, 6]
