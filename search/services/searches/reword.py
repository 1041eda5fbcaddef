"""reword: a written answer in the words of the site's language model, of which only what is borne out is kept."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from search import wiring
from search.domain.conversation import Completion
from search.domain.errors import StageError
from search.domain.model_reply import UnreadableReply, read_object
from search.domain.trace import Limit
from search.interfaces import LanguageModel
from search.prompts.written import SENTENCES, WrittenPrompts
from search.sentences.borne_out import Claim, is_borne_out, is_hedged
from search.services.language_models.budgets import new_budget
from search.services.searches.written import source_lines

Json = Mapping[str, Any]

TOOL = "language_model"
REWORD_SECONDS = 20.0
"""Time limit in seconds of the call; meanwhile the page shows the composed sentences."""
MOST_SENTENCES = 4
"""Sentences of the model that are read."""


def may_reword() -> bool:
    """Whether there is a language model to reword by."""
    return bool(_model().configured())


def reword(question: str, written: Sequence[Json]) -> tuple[list[Json], bool]:
    """Return a written answer reworded, and whether it was; as it is where there is no model, or nothing is left.

    Each of the model's sentences is checked against the sources that it cites (`is_borne_out`), and dropped if they do
    not bear it out. A sentence that leaves open what the composed ones leave open has to say so too.
    """
    composed, model = list(written), _model()
    if not composed or not model.configured():
        return composed, False
    prompt = WrittenPrompts().reword(question, [str(one["text"]) for one in composed], source_lines(composed))
    try:
        [outcome] = model.complete([prompt], Limit.seconds(REWORD_SECONDS, budget=new_budget()))
    except StageError:
        return composed, False
    said = checked(_sentences(outcome), composed)
    return (said, True) if said else (composed, False)


def checked(sentences: Sequence[str], composed: Sequence[Json]) -> list[Json]:
    """Return the sentences that the sources of the composed ones bear out, with the sources that they cite.

    Where the first one is refused, the first composed one stands in its place, so that the answer itself is never left
    out. Nothing is returned if none is borne out.
    """
    sources = {one["number"]: one for sentence in composed for one in sentence["sources"]}
    evidence = {number: f"{one['name']}; {one['evidence']}" for number, one in sources.items()}
    claims = [Claim(str(one["text"]), frozenset(source["number"] for source in one["sources"])) for one in composed]
    hedged = any(is_hedged(claim.text) for claim in claims)
    kept: list[Json] = []
    for at, sentence in enumerate(sentences):
        if is_borne_out(sentence, evidence, claims) and (is_hedged(sentence) or not hedged):
            cited = dict.fromkeys(int(number) for number in re.findall(r"\[(\d+)\]", sentence))
            kept.append({"text": _spaced(sentence), "sources": [sources[number] for number in cited]})
        elif not at:
            kept.append(composed[0])
    return kept if any(one is not composed[0] for one in kept) else []


def _model() -> LanguageModel:
    model: LanguageModel = wiring.build(TOOL)
    return model


def _sentences(outcome: Completion | StageError) -> list[str]:
    """Return the sentences of an answer; none if the call failed or its answer cannot be read."""
    if isinstance(outcome, StageError):
        return []
    try:
        found = read_object(outcome.text).get(SENTENCES)
    except UnreadableReply:
        return []
    said = found if isinstance(found, list) else []
    return [one for one in said if isinstance(one, str)][:MOST_SENTENCES]


def _spaced(sentence: str) -> str:
    """Return a sentence with one space before each number, as composed sentences have it."""
    return re.sub(r"\s*(\[\d+\])", r" \1", " ".join(sentence.split()))
