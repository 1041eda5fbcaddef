"""The type of the answers: asked for only where there is a choice; whatever the model says, there is an outcome."""

from __future__ import annotations

import pytest

from search.adapters.llm_openai import ConfiguredLanguageModel
from search.adapters.llm_openai import Server as Address
from search.domain.graph import NodeType, Schema
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces.triplets import NoModel, TargetTypes
from search.stages.target_type import TargetType
from tests import misbehaving
from tests.misbehaving import Reply
from tests.search.stages.judge.test_judges import NoLog

SCHEMA = Schema((NodeType("gene/protein"), NodeType("drug"), NodeType("kind", answerable=False)), (), ())


class Nobody:
    """No language model (interfaces.LanguageModel)."""

    def configured(self) -> bool:
        return False

    def complete(self, prompts: object, limit: Limit) -> list[object]:
        raise AssertionError


def predicted(reply: Reply) -> tuple[TargetTypes, str]:
    """Return the outcome, and the whole prompt."""
    with misbehaving.running(reply) as server:
        model = ConfiguredLanguageModel(NoLog(), Address("kestrel", server.url, "tiny-1"))
        found = TargetType(model, SCHEMA, seconds=2.0)(Question("Which genes?"), Limit.seconds(5))
    return found, "\n".join(message["content"] for message in server.requests[0]["messages"])


@pytest.mark.parametrize(
    "answer", ['{"type": "gene/protein"}', "Gene/Protein", "`gene_protein`.", '```json\n{"type": "GENE PROTEIN"}\n```']
)
def test_the_type_is_read_however_it_is_spelled(answer: str) -> None:
    found, asked = predicted(Reply.says(answer))
    assert (found.labels, found.status) == (("gene/protein",), "ok")
    assert (found.tokens["prompt"], bool(found.prompt_fingerprint)) == (120, True)
    assert "gene/protein" in asked
    assert "- kind" not in asked


@pytest.mark.parametrize("answer", ['{"type": "kind"}', '{"type": ["drug"]}', "Well, that depends.", "{}"])
def test_an_answer_that_is_no_type_allows_all_that_may_be_answers(answer: str) -> None:
    found, _ = predicted(Reply.says(answer))
    assert (found.labels, found.status) == (("gene/protein", "drug"), "degraded")
    assert "is no type of answers" in found.detail


def test_nobody_is_asked_where_only_one_type_may_be_an_answer() -> None:
    only = Schema((NodeType("paper"), NodeType("author", answerable=False)), (), ())
    assert TargetType(Nobody(), only)(Question("?"), Limit()).labels == ("paper",)


def test_without_a_model_or_with_a_broken_one_there_is_no_prediction() -> None:
    with pytest.raises(NoModel, match="no language model is configured"):
        TargetType(Nobody(), SCHEMA)(Question("?"), Limit())
    with pytest.raises(NoModel):
        predicted(misbehaving.HTML)
