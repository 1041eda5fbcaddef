"""verdict: what a search answers in one line, how sure it is of that and why, and what would settle it.

Every door shows this: pages, API, terminal and clients.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from search.domain.conversation import NO_MODEL
from search.domain.graph import Schema
from search.domain.payloads import Traversals
from search.domain.verdict import READABLE, Reading, judged, offered
from search.sentences.nothing import looked_at_words, nothing_words
from search.sentences.reading import reading_words
from search.sentences.values import Relations, listed
from search.services.searches.answer_line import answer_line, is_bare
from search.services.searches.understood import understood, walks

Json = Mapping[str, Any]

QUOTED = 3
"""Most words of a question that a sentence names one by one."""
MOST_WAYS = 2
"""Most ways of letting conditions go that are offered."""
RECOVERY = "recover"
"""Role of the steps that change a plan that found nothing."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """Something of the question that could not be checked, as a part of a sentence, and what would settle it."""

    sentence: str
    settle: tuple[Mapping[str, Any], ...] = ()


def told(search: Json, found: Traversals, schema: Schema | None, right: float | None = None) -> dict[str, Any]:
    """Return `understood`, `clarify`, and `answer` with its line and its verdict, of a described search.

    `found` are the executed plans. `right` is the probability of the list of the graph being right, where it is known.
    A search that is not done has neither line nor verdict.

    `answer.line` is the answer in one line, `answer.verdict` one of `search.domain.verdict.VERDICTS`, or null before
    the end, and `answer.because` the sentence that gives the reason. Each of `answer.settle` would settle a doubt: a
    `sentence` for a button, and the `plan` or the `question` to ask with. `clarify` are the readings to choose from
    where others than the shown one are likely enough, the shown one first: `sentence`, `plan`, `plan_index`.
    """
    read = understood(search, schema)
    if search["status"] != "done":
        nothing: dict[str, Any] = {"line": "", "verdict": None, "because": "", "settle": []}
        return {"understood": read, "answer": dict(search["answer"]) | nothing, "clarify": []}
    relations: Relations = {relation.name: relation for relation in schema.relations} if schema is not None else {}
    probability, learned = _probability(search, right)
    doubts = list(_doubts(search, read, learned=learned))
    answered = _answers(search) and not (read and read["left"] and probability < READABLE)
    asked = _clarify(search, found, relations) if answered else []
    renamed = _meant_instead(read)
    verdict = judged(probability, answered=answered, doubted=bool(doubts), rivalled=bool(asked or renamed))
    perhaps = answered and bool(read and read["left"]) and not learned
    answer = dict(search["answer"]) | {
        "line": answer_line(search, relations, answered=answered, perhaps=perhaps),
        "verdict": verdict,
        "because": _because(search, verdict, doubts, relations, rivalled=bool(asked), renamed=bool(renamed)),
        "settle": [*(one for doubt in doubts for one in doubt.settle), *renamed, *_let_go(search)],
    }
    return {"understood": read, "answer": answer, "clarify": asked}


def _answers(search: Json) -> bool:
    """Whether the shown plan has an answer: something that it found, a number, a yes or a no."""
    kind, count = search["answer"]["kind"], search["answer"]["count"]
    return kind in ("number", "yes", "no") or (kind in ("list", "aggregate") and count > 0)


def _probability(search: Json, right: float | None) -> tuple[float, bool]:
    """Return the probability of the answer, and whether a ranker that has learned to read the texts says it."""
    index = search["plan_index"]
    entry = search["plans"][index] if index is not None else None
    learned = (search.get("fusion") or {}).get("probability")
    if entry is not None and entry["source"] == "user":
        return 1.0, False
    if learned is not None and search["answer"]["kind"] == "list":
        return float(learned), True
    if entry is None:
        return 0.0, False
    return (entry["probability"] if right is None or entry.get("given") else max(right, entry["probability"])), False


def _doubts(search: Json, read: Json | None, *, learned: bool) -> Iterator[Doubt]:
    """Yield what of the question could not be checked."""
    index = search["plan_index"]
    if index is None or read is None:
        return
    entry, answer = search["plans"][index], search["answer"]
    plan = entry["plan"]
    for text in answer.get("unbound", ()):
        yield Doubt(f"nothing here is called {quoted(text)}")
    if read["left"] and not learned:
        named = _named(read["left"], read["more"])
        without = plan | {"target": plan["target"] | {"relevance_text": ""}}
        settle = ({"sentence": f"Ignore {named}", "plan": without},) if walks(without) else ()
        yield Doubt(f"{named} could not be checked", settle)
    if read["turning"]:
        named = _named(read["turning"], 0)
        yield Doubt(f"{named} could not be applied", ({"sentence": f"Ignore {named}", "plan": plan},))
    if not answer["complete"] and answer["count"] and not answer.get("unbound"):
        yield Doubt("not everything could be looked at in time")
    if any(_is_broken(step) for step in search["steps"]):
        yield Doubt("a part of the search did not work")


def _is_broken(step: Json) -> bool:
    broken = step["status"] in ("degraded", "failed") and step["role"] != RECOVERY
    return broken and NO_MODEL not in step["detail"].lower()


def _meant_instead(read: Json | None) -> list[dict[str, Any]]:
    """Return the questions with better-known names that may be meant, as buttons."""
    found = read["suggestions"][:MOST_WAYS] if read else []
    return [{"sentence": f"I meant {one['name']}", "question": one["question"]} for one in found]


def _clarify(search: Json, found: Traversals, relations: Relations) -> list[dict[str, Any]]:
    """Return the readings to choose from; empty where the shown one is clearly likelier, or was given."""
    plans, index = search["plans"], search["plan_index"]
    if index is None or plans[index]["source"] == "user" or plans[index].get("given"):
        return []
    # A reading that leaves words over is no better than the shown one.
    readings = [
        Reading(one.plan_index, plans[one.plan_index]["probability"], _answer_of(plans[one.plan_index]["plan"], one))
        for one in found.entries
        if one.plan_index == index or (one.listed.total and _is_whole(plans[one.plan_index]))
    ]
    asked = offered(readings, index, bare=_is_bare(search))
    choices = {reading_words(plans[at]["plan"], relations): at for at in reversed(asked)}
    if len(choices) < 2:
        return []
    ordered = sorted(choices.items(), key=lambda one: (one[1] != index, -plans[one[1]]["probability"]))
    return [{"sentence": said, "plan": plans[at]["plan"], "plan_index": at} for said, at in ordered]


def _answer_of(plan: Json, found: Any) -> Hashable:
    """Return a value that is equal for plans with the same answer."""
    asks = plan.get("ask", "which")
    computes = asks if asks not in ("which", "how many") else ""
    return frozenset(found.listed.ids), found.listed.total, computes, plan.get("show")


def _is_whole(entry: Json) -> bool:
    return not entry.get("given") and not entry["plan"]["target"].get("relevance_text")


def _is_bare(search: Json) -> bool:
    index = search["plan_index"]
    return index is not None and is_bare(search["plans"][index]["plan"])


def _because(
    search: Json, verdict: str, doubts: Sequence[Doubt], relations: Relations, *, rivalled: bool, renamed: bool
) -> str:
    index = search["plan_index"]
    entry = search["plans"][index] if index is not None else None
    if verdict == "none":
        return _why_nothing(search, doubts, relations)
    if verdict == "sure":
        chosen = entry is not None and entry["source"] == "user"
        return "Sure: this meaning was chosen, and all of it was checked." if chosen else (
            "Sure: everything that was asked was checked."
        )  # fmt: skip
    if verdict == "probably":
        if rivalled:
            alone = _is_bare(search)
            return f"Probably: {'a name alone' if alone else 'the question'} can be meant in several ways."
        if renamed:
            return "Probably: a better-known name may be meant."
        return "Probably: this is the likeliest meaning, and all of it was checked."
    reasons = [doubt.sentence for doubt in doubts]
    if rivalled or not reasons:
        reasons.append("the question can be read in several ways")
    return f"We are not sure, because {listed(reasons)}."


def _let_go(search: Json) -> Iterator[dict[str, Any]]:
    """Yield the question without the conditions that were let go so that something was found, as buttons."""
    index = search["plan_index"]
    entry = search["plans"][index] if index is not None else None
    if entry is not None and entry.get("given") and entry.get("dropped"):
        ways = [one for one in search["plans"] if one.get("given") and one.get("dropped")]
        for one in ways[:MOST_WAYS]:
            yield {
                "sentence": f"Search without {listed([quoted(text) for text in one['dropped']])}",
                "plan": one["plan"],
            }


def _why_nothing(search: Json, doubts: Sequence[Doubt], relations: Relations) -> str:
    index = search["plan_index"]
    entry = search["plans"][index] if index is not None else None
    asked = (entry.get("given") or entry["plan"]) if entry is not None else {}
    if doubts or entry is None or not walks(asked):
        if entry is not None and walks(asked):
            said = listed([doubt.sentence for doubt in doubts])
            looked = looked_at_words(asked, relations, found=search["answer"]["count"] > 0)
            return f"{said[:1].upper()}{said[1:]}. {looked}".strip()
        if entry is None:
            return "Only texts were compared, so nothing was checked."
        return "Nothing in the question names anything here, so only texts could be compared."
    return nothing_words(asked, relations)


def _named(words: Sequence[str], more: int) -> str:
    """Return words of the question in quotation marks: `“take” and “home”`, `“a”, “b”, “c” and 4 more words`."""
    rest = len(words) - QUOTED + more
    return listed([*map(quoted, words[:QUOTED]), *([f"{rest} more word{'s' if rest > 1 else ''}"] if rest > 0 else [])])


def quoted(text: str) -> str:
    """Return words of the question between quotation marks, cut where a sentence would no longer be read."""
    return f"“{text if len(text) <= 120 else f'{text[:119]}…'}”"
