"""verdict: what a search answers in one line, how sure it is of that and why, and what would settle it.

Every door shows this: pages, API, terminal and clients.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.conversation import NO_MODEL
from search.domain.graph import Schema
from search.domain.payloads import Traversals
from search.domain.verdict import READABLE, Verdict, judged
from search.plan_words import Relations
from search.sentences.nothing import looked_at_words, nothing_words
from search.sentences.values import listed
from search.services.searches.answer_line import answer_line, is_bare
from search.services.searches.readings import readings
from search.services.searches.understood import understood, walks
from search.services.searches.written import written
from search.stages.retrieve import NO_VECTORS

Json = Mapping[str, Any]

QUOTED = 3
"""Most words of a question that a sentence names one by one."""
LONGEST_QUOTED = 120
"""Most characters of a question that a sentence repeats in one piece."""
MOST_WAYS = 2
"""Most ways of letting conditions go, and most other names, that are offered."""
RECOVERY = "recover"
"""Role of the steps that change a plan that found nothing."""


@dataclass(frozen=True, slots=True)
class VerdictDoubt:
    """Something of the question that could not be checked, as a part of a sentence, and what would settle it."""

    sentence: str
    settle: tuple[Json, ...] = ()


@dataclass(frozen=True, slots=True)
class VerdictCase:
    """What is known of a search that is done. `entry` is the shown plan with its probability, None without plans.

    `probability` is that of the answer; `learned` says that a ranker which has learned to read the texts tells it.
    """

    search: Json
    entry: Json | None
    relations: Relations
    probability: float
    learned: bool
    doubts: tuple[VerdictDoubt, ...]
    clarify: tuple[Json, ...]
    renamed: tuple[Json, ...]
    left: tuple[str, ...]

    @property
    def answered(self) -> bool:
        """Whether the shown plan has an answer that is more than a guess."""
        return _answers(self.search) and not (self.left and self.probability < READABLE)

    @property
    def verdict(self) -> Verdict:
        """How sure the answer is."""
        rivalled = bool(self.clarify or self.renamed)
        return judged(self.probability, answered=self.answered, doubted=bool(self.doubts), rivalled=rivalled)


def told(search: Json, found: Traversals, schema: Schema | None, right: float | None = None) -> dict[str, Any]:
    """Return `understood`, `clarify`, and `answer` with its line and its verdict, of a described search.

    `found` are the executed plans. `right` is the probability that the order of the graph's list is right, None where
    there is no such list. A search that is not done has neither line nor verdict.

    `answer.line` is the answer in one line, `answer.verdict` one of `search.domain.verdict.VERDICTS`, or null before
    the end, `answer.because` the sentence that gives the reason, and `answer.written` the answer in sentences. Each of
    `answer.settle` would settle a doubt: a `sentence` for a button, and the `plan` or the `question` to ask with.
    `clarify` are the readings to choose from where others than the shown one are likely enough, the shown one first.
    """
    read = understood(search, schema)
    if search["status"] != "done":
        nothing: dict[str, Any] = {"line": "", "verdict": None, "because": "", "settle": [], "written": []}
        return {"understood": read, "answer": dict(search["answer"]) | nothing, "clarify": []}
    relations: Relations = schema.wordings if schema is not None else {}
    case = _case(search, read, found, relations, right)
    perhaps = bool(case.left) and not case.learned
    answer = dict(search["answer"]) | {
        "line": answer_line(search, relations, answered=case.answered, perhaps=perhaps),
        "verdict": case.verdict,
        "because": _because(case),
        "settle": [*(one for doubt in case.doubts for one in doubt.settle), *case.renamed, *_let_go(case)],
    }
    clarify = list(case.clarify) if case.answered else []
    answer["written"] = written(search, answer, clarify, relations)
    return {"understood": read, "answer": answer, "clarify": clarify}


def _case(search: Json, read: Json | None, found: Traversals, relations: Relations, right: float | None) -> VerdictCase:
    index = search["plan_index"]
    entry = search["plans"][index] if index is not None else None
    probability, learned = _probability(search, entry, right)
    renamed = [
        {"sentence": f"I meant {one['name']}", "question": one["question"]}
        for one in (read["suggestions"][:MOST_WAYS] if read else ())
    ]
    return VerdictCase(
        search, entry, relations, probability, learned,
        tuple(_doubts(search, entry, read, learned=learned)) if entry is not None and read is not None else (),
        tuple(readings(search, found, relations)), tuple(renamed), tuple(read["left"]) if read else (),
    )  # fmt: skip


def _answers(search: Json) -> bool:
    """Whether the shown plan has an answer: something that it found, a number, a yes or a no."""
    kind, count = search["answer"]["kind"], search["answer"]["count"]
    return kind in ("number", "yes", "no") or (kind in ("list", "aggregate") and count > 0)


def _probability(search: Json, entry: Json | None, right: float | None) -> tuple[float, bool]:
    """Return the probability of the answer, and whether a ranker that has learned to read the texts says it."""
    if entry is not None and entry["source"] == "user":
        return 1.0, False
    learned = (search.get("fusion") or {}).get("probability")
    if learned is not None and search["answer"]["kind"] == "list":
        return float(learned), True
    if entry is None:
        return 0.0, False
    # Plans with the same first node count together in the probability of the list, but not for what was changed.
    return max(entry["probability"], 0.0 if right is None or entry.get("given") else right), False


def _doubts(search: Json, entry: Json, read: Json, *, learned: bool) -> Iterator[VerdictDoubt]:
    """Yield what of the question could not be checked."""
    answer, plan = search["answer"], entry["plan"]
    for text in answer.get("unbound", ()):
        yield VerdictDoubt(f"nothing here is called {_quoted(text)}")
    if read["left"] and not learned:
        named = _named(read["left"], read["more"])
        without = plan | {"target": plan["target"] | {"relevance_text": ""}}
        settle = ({"sentence": f"Ignore {named}", "plan": without},) if walks(without) else ()
        yield VerdictDoubt(f"{named} could not be checked", settle)
    if read["turning"]:
        named = _named(read["turning"], 0)
        yield VerdictDoubt(f"{named} could not be applied", ({"sentence": f"Ignore {named}", "plan": plan},))
    if guessed := entry.get("alike"):
        yield VerdictDoubt(f"what {_named(guessed, 0)} mean{'s' if len(guessed) == 1 else ''} was only guessed")
    if not answer["complete"] and answer["count"] and not answer.get("unbound"):
        yield VerdictDoubt("not everything could be looked at in time")
    if any(_is_broken(step) for step in search["steps"]):
        yield VerdictDoubt("a part of the search did not work")


def _is_broken(step: Json) -> bool:
    """Whether a step failed; a model or vectors that are not there, as somebody chose, are no failure."""
    broken = step["status"] in ("degraded", "failed") and step["role"] != RECOVERY
    return broken and NO_MODEL not in step["detail"].lower() and NO_VECTORS not in step["detail"]


def _because(case: VerdictCase) -> str:
    """Return the reason of the verdict as a sentence."""
    entry, reasons = case.entry, [doubt.sentence for doubt in case.doubts]
    if case.verdict == "none":
        return _why_nothing(case)
    if case.verdict == "sure":
        chosen = entry is not None and entry["source"] == "user"
        meaning = "this meaning was chosen, and all of it" if chosen else "everything that was asked"
        return f"Sure: {meaning} was checked."
    if case.verdict == "unsure":
        several = ["the question can be meant in several ways"] if case.clarify or not reasons else []
        return f"We are not sure, because {listed([*reasons, *several])}."
    if case.clarify and entry is not None:
        what = "a name alone" if is_bare(entry["plan"]) else "the question"
        return f"Probably: {what} can be meant in several ways."
    if case.renamed:
        return "Probably: a better-known name may be meant."
    return "Probably: this is the likeliest meaning, and all of it was checked."


def _why_nothing(case: VerdictCase) -> str:
    if case.entry is None:
        return "Only texts were compared, so nothing was checked."
    asked = case.entry.get("given") or case.entry["plan"]
    if not walks(asked):
        return "Nothing in the question names anything here, so only texts could be compared."
    if not case.doubts:
        return nothing_words(asked, case.relations)
    said = listed([doubt.sentence for doubt in case.doubts])
    looked = looked_at_words(asked, case.relations, found=case.search["answer"]["count"] > 0)
    return f"{said[:1].upper()}{said[1:]}. {looked}".strip()


def _let_go(case: VerdictCase) -> Iterator[Json]:
    """Yield buttons for the question without the conditions that were let go so that something was found."""
    if case.entry is None or not case.entry.get("given"):
        return
    ways = [one for one in case.search["plans"] if one.get("given") and one.get("dropped")]
    for one in ways[:MOST_WAYS]:
        target = one["plan"]["target"] | {"relevance_text": one["given"]["target"].get("relevance_text", "")}
        without = listed([_quoted(text) for text in one["dropped"]])
        yield {"sentence": f"Search without {without}", "plan": one["plan"] | {"target": target}}


def _named(words: Sequence[str], more: int) -> str:
    """Return words of the question in quotation marks: `“take” and “home”`, `“a”, “b”, “c” and 4 more words`."""
    rest = len(words) - QUOTED + more
    some = [f"{rest} more word{'s' if rest > 1 else ''}"] if rest > 0 else []
    return listed([*map(_quoted, words[:QUOTED]), *some])


def _quoted(text: str) -> str:
    """Return words of the question between quotation marks, cut where a sentence would no longer be read."""
    return f"“{text if len(text) <= LONGEST_QUOTED else f'{text[: LONGEST_QUOTED - 1]}…'}”"
