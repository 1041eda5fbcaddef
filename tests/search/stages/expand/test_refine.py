"""AGR: the order of its steps and what each is asked, with a server that answers by a script."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from search.domain.conditions import CheckedConditions
from search.domain.evidence import Result
from search.domain.fusion import Fusion
from search.domain.question import Question
from search.domain.ranking import Ranking
from search.domain.trace import Limit, Trace
from search.pipelines.expansion import AgrStages, agr
from search.stages.expand.refine import NOT_ASKED, Analyse, Generate, Refine, RefinedDraft
from search.stages.retrieve import Bm25
from tests.fakes import HashEncoder, MemoryVectors
from tests.search.stages.expand.films import ASKED, BO, GALE, LONE, REEF, TIDE, Words, taken, tools_of
from tests.search.stages.expand.models import NoModel, answering, asked, model_at


class Script:
    """Answers by what the last message says: the steps of AGR in their wording, with numbered documents."""

    def __init__(self, **failing: str) -> None:
        self.failing = failing
        self.numbers = {name: itertools.count(1) for name in ("draft", "generate", "refine")}

    def __call__(self, said: str) -> str:
        step = self.step_of(said)
        if step in self.failing:
            return self.failing[step]
        if step == "keywords":
            return "Ann Arbor, sea, film"
        if step == "analysis":
            return "It asks for films. One condition is a relation: directed by Ann Arbor."
        return f"film: {step.capitalize()}{next(self.numbers[step])}"

    @staticmethod
    def step_of(said: str) -> str:
        for step, phrase in {
            "keywords": "Write down the keywords",
            "analysis": "Say in at most four sentences",
            "draft": "What a question asks for:",
            "generate": "Entries that a first search found",
            "refine": "Documents that were written for a question",
        }.items():
            if phrase in said:
                return step
        raise AssertionError(said)


def nothing_explained(
    question: Question, fusion: Fusion, plans: Any, checked: CheckedConditions, limit: Limit
) -> list[Result]:
    return []


class ByDraft(Words):
    """Finds other documents for each draft: the first ones of a list that begins at another place."""

    def search(self, text: str, k: int, labels: Sequence[str] = (), field: str | None = None) -> list[Any]:
        found = super().search(text, k, labels, field)
        return found if "Draft1" in text else found[1:] if "Draft2" in text else found[2:]


def run(folder: Path, model: Any, words: Words, **time: Any) -> tuple[Trace, Ranking]:
    tools = tools_of(folder)
    seen = taken(tools, "schema")
    retrieve = Bm25(words, HashEncoder(), MemoryVectors({DOCUMENTS: {}}))
    stages = AgrStages(
        analyse=Analyse(model, **seen),
        draft=RefinedDraft(model, **seen),
        first=retrieve,
        generate=Generate(model, tools["nodes"], **seen),
        refine=Refine(model, tools["nodes"], **seen),
        retrieve=retrieve,
        explain=nothing_explained,
    )
    trace = Trace(Limit.seconds(60))
    return trace, agr(Question(ASKED), stages, trace)


DOCUMENTS = "document+relations"
WORDS = {GALE: 5.0, TIDE: 4.0, REEF: 3.0, LONE: 2.0, BO: 1.0}


def test_the_steps_come_in_the_order_of_the_paper_with_three_samples_each(tmp_path: Path) -> None:
    with answering(Script()) as server:
        trace, _ = run(tmp_path, model_at(server), ByDraft(WORDS))
    steps = [Script.step_of(said) for said in asked(server)]
    assert steps == ["keywords", "analysis"] + ["draft"] * 3 + ["generate"] * 3 + ["refine"] * 3
    assert [step.name for step in trace.steps] == [
        "analyse", "draft", "first", "first", "first", "generate", "refine", "retrieve", "explain",
    ]  # fmt: skip
    assert {step.status for step in trace.steps} == {"ok"}
    assert [step.name for step in trace.steps if step.prompt_fingerprint] == ["analyse", "draft", "generate", "refine"]


def test_each_step_is_given_what_the_steps_before_it_found(tmp_path: Path) -> None:
    words = ByDraft(WORDS)
    with answering(Script()) as server:
        trace, _ = run(tmp_path, model_at(server), words)
    keywords, analysis, drafts, generated, refined = (
        [said for said in asked(server) if Script.step_of(said) == step]
        for step in ("keywords", "analysis", "draft", "generate", "refine")
    )
    assert keywords[0].endswith(f"Question: {ASKED}")
    assert "Keywords of a question: Ann Arbor, sea, film" in analysis[0]
    assert all("What a question asks for: It asks for films." in said for said in drafts)
    # Each draft is searched for with the question; the first three documents of each are shown, each once.
    assert sorted(words.searched[:3]) == [f"{ASKED}\n\nfilm: Draft{at}" for at in (1, 2, 3)]
    for said in generated:
        shown = [line for line in said.splitlines() if line.startswith("[")]
        assert sorted(shown) == sorted(f"[{at}] {line}" for at, line in enumerate(_shown(shown), 1))
        assert {line.split("] ")[1] for line in shown} == {
            "film: Gale", "film: Tide", "film: Reef", "film: Lone", "person: Bo Derrin",
        }  # fmt: skip
    assert all(f"[{at}] film: Generate" in said for said in refined for at in (1, 2, 3))
    assert all(said.endswith(f"Question: {ASKED}") for said in asked(server))
    # What is searched at last is the question with the refined documents.
    assert sorted(words.searched[3].split("\n\n")) == sorted([ASKED, *(f"film: Refine{at}" for at in (1, 2, 3))])
    assert trace.output("refine")["text"] == words.searched[3]


def _shown(lines: Sequence[str]) -> list[str]:
    return [line.split("] ", 1)[1] for line in lines]


def test_all_prompts_to_write_documents_share_their_first_message(tmp_path: Path) -> None:
    with answering(Script()) as server:
        run(tmp_path, model_at(server), ByDraft(WORDS))
    assert len({body["messages"][0]["content"] for body in server.requests}) == 1


def test_without_a_model_the_first_documents_are_appended_and_every_step_says_why(tmp_path: Path) -> None:
    words = Words(WORDS)
    trace, _ = run(tmp_path, NoModel(), words)
    assert [part["source"] for part in trace.output("refine")["parts"]] == ["question"] + ["document"] * 3
    told = {step.name: (step.status, step.detail) for step in trace.steps}
    assert told["analyse"] == ("degraded", "No language model is configured.")
    assert told["draft"] == ("ok", NOT_ASKED)
    assert told["generate"] == ("ok", NOT_ASKED)
    assert told["refine"] == (
        "degraded",
        "No language model is configured. The documents found first were appended themselves.",
    )
    assert words.searched[0] == ASKED


@pytest.mark.parametrize(
    ("failing", "sources", "texts", "said"),
    [
        ("keywords", {"document"}, 3, "The model was not asked, because the step before gave nothing."),
        ("draft", {"document"}, 3, "The model was not asked, because the step before gave nothing."),
        ("generate", {"model"}, 3, ""),
        ("refine", {"model"}, 3, "The drafts were taken instead."),
    ],
)
def test_a_step_that_fails_hands_on_what_the_step_before_it_wrote(
    tmp_path: Path, failing: str, sources: set[str], texts: int, said: str
) -> None:
    answer = "<think>hm</think>" if failing == "keywords" else f"{ASKED} " * 50
    with answering(Script(**{failing: answer})) as server:
        trace, ranking = run(tmp_path, model_at(server), Words(WORDS))
    parts = trace.output("refine")["parts"][1:]
    assert {part["source"] for part in parts} == sources
    assert len(parts) == texts
    refined = next(step for step in trace.steps if step.name == "refine")
    assert said in refined.detail
    if failing == "refine":
        assert sorted(part["text"] for part in parts) == ["film: Generate1", "film: Generate2", "film: Generate3"]
    assert "degraded" in {step.status for step in trace.steps}
    assert len(ranking)
