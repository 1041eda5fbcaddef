"""The residual of a question that text has to decide (GRASP, risk level)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from search.language.cues import Span
from search.language.languages import language
from search.language.names import Named
from search.language.question import MOST_WORDS, AnalysedQuestion, Word
from search.language.words import FUNCTION_WORDS, stems
from search.stages.plan.knowledge.lexicon import Lexicon

_CAPITAL_NOUNS = frozenset(("de",))
"""Languages in which every noun has a capital."""
_JOINING = language("en").set("turning", "joining")
_ENDS = re.compile(r"(?:\s+[A-Z][\w'’-]*|['’]s)*\s*(?:$|[?.!,;]|and\b|or\b)")
"""What stands behind a name at the end of what is said: the rest of it, and the end, a mark or another name."""
_STANDS_FOR = 0.9
"""Least affinity by its letters from which a word stands for one of the schema."""
_APART = 4
"""Most words between a name and a word that belongs to it."""


def left_over(
    question: AnalysedQuestion,
    used: tuple[int, ...],
    columns: Sequence[int],
    lexicon: Lexicon,
    told: Sequence[Span] = (),
    unbound: Sequence[Span] = (),
) -> list[Word]:
    """Return the content words of a question that a plan does not explain, in their order.

    `columns` are the columns of the lexicon for the plan's elements. `told` are the spans (start, end) of the question
    that the plan's conditions express; their words are explained. Words in `unbound` spans, those of cues that mean
    nothing in this plan, are not, whatever they are like, nor are attributes and topics.
    """
    content = [word for word in outside(question, used) if not _in(word, told)]
    unbound = (*unbound, *unused_names(question, used, lexicon), *question.attributes)
    return [word for word in content if _in(word, unbound) or not lexicon.explains(columns, word.text)]


def unused_names(
    question: AnalysedQuestion, used: Sequence[int], lexicon: Lexicon, exact: bool | None = None, least: float = 1.0
) -> list[Span]:
    """Return the spans of the names to start from that a plan does not use, without those that only say the schema.

    Such a name has the schema's words, or is one word that the question does not mark and that stands for one of them
    (*the film X* where the schema says movie, and some node is called *Film*). `exact` keeps only names whose case
    agrees with the stored one, or only the others; `least` is the least similarity of those that count.
    """
    taken = [question.names[at] for at in used]
    return [
        (name.mention.start, name.mention.end)
        for name, role in zip(question.names, question.roles, strict=True)
        if role == "start"
        and name.mention.similarity >= least
        and exact in (None, name.exact)
        and not stems(name.mention.text) <= question.spoken
        and (name.words > 1 or name.marked or lexicon.letters(name.mention.text.casefold()) < _STANDS_FOR)
        and not any(name.overlaps(other) for other in taken)
    ]


def unknown_names(question: AnalysedQuestion, used: Sequence[int], left: Sequence[Word]) -> list[Word]:
    """Return the words left over that must belong to a name which nothing here bears, or not as a whole.

    They are joined to a name of the plan by *and* or *or* (*made of cork and velvet*), or written with a capital beside
    one (*University of Oslo* where only *University* is known). A name that was merely guessed from a vector counts,
    too, if the question writes it as a name.
    """
    text, cased = question.text, not question.text.isupper() and question.cues.language not in _CAPITAL_NOUNS
    names = [question.names[at] for at in used]
    found = [
        word
        for word in left
        for name in names
        if (between := _between(text, word, name))
        and (between == "joined" or (cased and word.start and text[word.start].isupper()))
    ]
    guessed = [Word(one.mention.start, one.mention.text) for one in names if one.how == "near" and one.capitalised]
    return [*dict.fromkeys(found), *guessed]


def sure_names_left(
    question: AnalysedQuestion, used: Sequence[int], left: Sequence[Word], lexicon: Lexicon
) -> list[Span]:
    """Return the spans of names of several words, as they are stored, that a plan leaves over as a whole."""
    unused = set(unused_names(question, used, lexicon))
    over = {word.start for word in left}
    return [
        span
        for name in question.names
        if name.words > 1 and (span := (name.mention.start, name.mention.end)) in unused
        and all(word.start in over for word in question.content_in(span, names=True))
    ]  # fmt: skip


def unsaid_names(question: AnalysedQuestion, says: Callable[[str], bool]) -> list[Word]:
    """Return the words that a question writes as a name, if no text says any of them: nothing here bears it.

    `says` tells whether any text has a word.
    """
    text = question.text
    if text.isupper() or question.cues.language in _CAPITAL_NOUNS:
        return []
    begins = next((word.start for word in question.said), 0)
    named = [one for one in question.said if one.content and one.start > begins and text[one.start].isupper()]
    return [] if any(says(word.text) for word in named) else named


def unsaid_topics(question: AnalysedQuestion, left: Sequence[Word], says: Callable[[str], bool]) -> list[Word]:
    """Return the words left over behind *about* or *on* that no text says: nothing here is about them.

    `says` tells whether any text has a word.
    """
    return [word for word in question.topics if word in left and not says(word.text)]


def _between(text: str, word: Word, name: Named) -> str:
    """Return how a word stands beside a name: `joined`, `beside`, or an empty string where other words are between.

    A word is joined to a name before it only if nothing more is said of it: *and lasts so long* is no name.
    """
    start, end = word.start, word.start + len(word.text)
    behind = start >= name.mention.end
    words = (text[name.mention.end : start] if behind else text[end : name.mention.start]).split()
    joined = behind and bool(words) and words[0] in _JOINING
    if len(words) > _APART or any(one.lower() not in FUNCTION_WORDS and (joined or one.islower()) for one in words):
        return ""
    if joined:
        return "joined" if _ENDS.match(text, end) else ""
    return "beside"


def text_of(question: AnalysedQuestion, words: Sequence[Word]) -> str:
    """Return words of a question as it spells them, in their order."""
    return " ".join(question.text[word.start : word.start + len(word.text)] for word in words)


def outside(question: AnalysedQuestion, used: Sequence[int]) -> list[Word]:
    """Return the content words of a question outside some of its names; words of cues are among them."""
    held = [(question.names[at].mention.start, question.names[at].mention.end) for at in used]
    return [word for word in question.said if word.content and not _in(word, held)][:MOST_WORDS]


def explained(question: AnalysedQuestion, used: tuple[int, ...], left: Sequence[Word]) -> float:
    """Return the share of a question's content words that a plan explains, mentions included, in [0, 1].

    `left` are the words that it does not explain.
    """
    content = len(outside(question, used)) + sum(question.names[name].words for name in used)
    return 1.0 - len(left) / content if content else 0.0


def _in(word: Word, spans: Sequence[Span]) -> bool:
    return any(first <= word.start < last for first, last in spans)
