"""reword: a written answer in the words of the site's language model, of which only what is borne out is kept."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from search import wiring
from search.domain.conversation import Completion
from search.domain.errors import StageError
from search.domain.model_reply import LONGEST_REPLY, UnreadableReply, read_object, without_thinking
from search.domain.trace import Limit
from search.interfaces.tools import StreamingModel
from search.prompts.written import SENTENCES, WrittenPrompts
from search.sentences.borne_out import SentenceClaim, is_borne_out, is_hedged
from search.services.language_models.budgets import new_budget
from search.services.searches.written import source_lines

Json = Mapping[str, Any]

TOOL = "language_model"
REWORD_SECONDS = 20.0
"""Time limit in seconds of the call; meanwhile the page shows the composed sentences."""
MOST_SENTENCES = 4
"""Sentences of the model that are read."""
_LIST = re.compile(rf'"{SENTENCES}"\s*:\s*\[')
_WHOLE = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"(?=\s*[,\]])')
"""The beginning of the list of sentences, and a string of it behind which something follows."""
NOTHING = "Nothing is written, so nothing is reworded."
NO_MODEL = "No language model is set up, so these are the composed sentences."
FAILED = "The language model gave no answer, so these are the composed sentences."
REFUSED = "No sentence of the language model follows from the sources, so these are the composed sentences."
"""Why a written answer was not reworded."""


@dataclass(frozen=True, slots=True)
class Reworded:
    """The sentences of a written answer; `because` says why they are the composed ones, empty if a model's are kept."""

    sentences: Sequence[Json]
    because: str = ""


def may_reword() -> bool:
    """Whether there is a language model to reword by."""
    return _model() is not None


def reword_answer(search: Json) -> dict[str, Any]:
    """Return a described search with `answer.written` reworded, and in `answer.reworded` whether and why not."""
    told = reword(search["question"], search["answer"]["written"])
    said = {"written": list(told.sentences), "reworded": {"done": not told.because, "because": told.because}}
    return {**search, "answer": {**search["answer"], **said}}


def reword(question: str, written: Sequence[Json], tell: Callable[[list[Json]], None] | None = None) -> Reworded:
    """Return a written answer reworded, or as it is where there is no model, it fails, or nothing of it is left.

    Each of the model's sentences is checked against the sources that it cites (`is_borne_out`), and dropped if they do
    not bear it out. A sentence has to leave open what the composed ones leave open. `tell` is called, from another
    thread, with what is kept whenever more of it has arrived.
    """
    composed, model = list(written), _model()
    if not composed or model is None:
        return Reworded(composed, NO_MODEL if composed else NOTHING)
    prompt = WrittenPrompts().reword(question, [str(one["text"]) for one in composed], source_lines(composed))
    seen = 0

    def heard(text: str) -> None:
        nonlocal seen
        sentences = arrived(text)
        if tell is not None and len(sentences) > seen:
            seen = len(sentences)
            if said := checked(sentences, composed):
                tell(said)

    try:
        outcome = model.stream(prompt, Limit.seconds(REWORD_SECONDS, budget=new_budget()), heard)
    except StageError as error:
        outcome = error
    if isinstance(outcome, StageError):
        return Reworded(composed, FAILED)
    said = checked(_sentences(outcome), composed)
    return Reworded(said) if said else Reworded(composed, REFUSED)


def checked(sentences: Sequence[str], composed: Sequence[Json]) -> list[Json]:
    """Return the sentences that the sources of the composed ones bear out, with the sources that they cite.

    Where the first one is refused, the first composed one stands in its place, so that the answer itself is never left
    out. Nothing is returned if none is borne out.
    """
    sources = {one["number"]: one for sentence in composed for one in sentence["sources"]}
    evidence = {number: f"{one['name']}; {one['evidence']}" for number, one in sources.items()}
    claims = [
        SentenceClaim(str(one["text"]), frozenset(source["number"] for source in one["sources"])) for one in composed
    ]
    hedged = any(is_hedged(claim.text) for claim in claims)
    kept: list[Json] = []
    for at, sentence in enumerate(sentences):
        if is_borne_out(sentence, evidence, claims) and (is_hedged(sentence) or not hedged):
            cited = dict.fromkeys(int(number) for number in re.findall(r"\[(\d+)\]", sentence))
            kept.append({"text": _spaced(sentence), "sources": [sources[number] for number in cited]})
        elif not at:
            kept.append(composed[0])
    return kept if any(one is not composed[0] for one in kept) else []


def arrived(text: str) -> list[str]:
    """Return the sentences that are whole in the beginning of a model's answer."""
    begun = _LIST.search(without_thinking(text[:LONGEST_REPLY]))
    return [json.loads(one) for one in _WHOLE.findall(begun.string, begun.end())][:MOST_SENTENCES] if begun else []


def _model() -> StreamingModel | None:
    """Return the site's language model; None if it has none."""
    if TOOL not in settings.GRASP_TOOLS:
        return None
    model: StreamingModel = wiring.build(TOOL)
    return model if model.configured() else None


def _sentences(outcome: Completion) -> list[str]:
    """Return the sentences of an answer; none if it cannot be read."""
    try:
        found = read_object(outcome.text).get(SENTENCES)
    except UnreadableReply:
        return []
    said = found if isinstance(found, list) else []
    return [one for one in said if isinstance(one, str)][:MOST_SENTENCES]


def _spaced(sentence: str) -> str:
    """Return a sentence with one space before each number, as composed sentences have it."""
    return re.sub(r"\s*(\[\d+\])", r" \1", " ".join(sentence.split()))
