"""A question with its mentions: as text with mentions masked for the encoder, and as the words outside mentions.

A name may be meant in three ways: what the plan starts from, what is excluded, or what answers are compared with.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import takewhile
from typing import Literal

from search.interfaces import ValueMention
from search.language.cues import Comparison, Cues, FieldAsked, Span, Superlative, Turning
from search.language.languages import known_languages, language
from search.language.names import Named
from search.language.quantities import Quantity
from search.language.reading.scales import scales_of
from search.language.words import (
    ANSWER_OF,
    ARTICLES,
    ASKED_AS,
    ASKING_WORDS,
    FUNCTION_WORDS,
    SHARING_WORDS,
    WHICH,
    is_participle,
    stem,
    words,
)

MOST_WORDS = 60
"""Largest number of words of a question that are examined. A longer text is hardly a question about the graph."""
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_POSSESSIVE = re.compile(r"['’]s?$")

Role = Literal["start", "excluded", "reference", "number"]
"""What a name is for: plans start from it, it is in the scope of a turning word, answers are compared with it, or it is
only the number of a condition such as `under 400`."""
_NO_PHRASE = language("en").set("words", "no_phrase")
_FIRST_PERSON = language("en").set("words", "first_person")
_WANTING = language("en").set("words", "wanting")
_SENTENCE_END = re.compile(r"(?<![.!?])[.!?]++(?=\s|$)")
_AND, _PLACING = language("en").set("turning", "and"), language("en").set("turning", "placing")
_TOPICAL = language("en").set("words", "topical")
_PARTICIPLE = language("en").entries("words", "participles")
_LISTED = re.compile(r"[,;/&、，]")
_ARTICLE = 4
"""Number of characters by which a name may begin before a span: `the Netherlands` in the scope `Netherlands`."""
_REACH = 40
"""Number of characters behind a number in which what it counts stands."""
_NOUN = 2
"""Most content words that say what is counted."""
_OBJECT = 30
"""Number of characters before a turning word at the end (`that cite nothing`) in which its verb stands."""


_NO_CUES = Cues("en")


@dataclass(frozen=True, slots=True)
class Word:
    """A word in lower case with its offset. `content` is False for function words and words of asking."""

    start: int
    text: str
    content: bool = True


@dataclass(frozen=True)
class RemainingWords:
    """The words of a question outside some of its mentions, in their order; `content` holds the content words."""

    words: tuple[Word, ...]
    content: tuple[Word, ...]

    @cached_property
    def shared(self) -> tuple[Word, ...]:
        """The words that say, or have a part that says, that two nodes have the same neighbour."""
        return tuple(word for word in self.words if any(part in SHARING_WORDS for part in words(word.text)))

    @property
    def sharing(self) -> bool:
        """Whether a word says that two nodes have the same neighbour."""
        return bool(self.shared)

    def outward(self, start: int) -> list[int]:
        """Return the positions in `content`, ordered outward from a mention that begins at `start`.

        The words before the mention come first, from the nearest to the farthest. The words after it follow in order.
        In `who directed the films starring X` and in `the films starring X were directed by whom`, the words of the
        first hop from X therefore come before those of the second hop.
        """
        before = [at for at, word in enumerate(self.content) if word.start < start]
        return before[::-1] + list(range(len(before), len(self.content)))


@dataclass(frozen=True, eq=False)
class AnalysedQuestion:
    """The text of a question, the names in it, and its words outside any selection of these names.

    `spoken` are the stems of the schema's own words. They count as content words even if they are in the list of words
    of asking: for example `person`, if the schema has such a type. `cues` are the words that conditions are made of;
    a cue inside a name is none. `values` are the values of fields that the question says. `expressions` are stretches
    of several words that mean one thing together (*take part*): each is one word here. `attributes` are the words that
    describe what a bare phrase asks for (*warm* in *warm socks*): they say nothing about how answers and names are
    connected. `counted` are the words that a number counts (*films* in *more than three films*): they are no names.
    `named` are names and values before what a bare phrase asks for, whose words say nothing of the schema: where a plan
    leaves such a name out, its words still say no relation and no type (*red* in *red hats*). `fielded` are words that
    name the field of a number or date (*released before 2019*).
    """

    text: str
    names: Sequence[Named]
    spoken: frozenset[str] = frozenset()
    cues: Cues = _NO_CUES
    values: Sequence[ValueMention] = ()
    expressions: Sequence[Span] = ()
    attributes: Sequence[Span] = ()
    counted: Sequence[Span] = ()
    named: Sequence[Span] = ()
    fielded: Sequence[Span] = ()
    _readings: dict[tuple[int, ...], RemainingWords] = field(default_factory=dict, init=False)

    def without(self, used: tuple[int, ...]) -> RemainingWords:
        """Return the words of the question outside the names at the positions `used`, its cues and its attributes.

        The words of a cue and of its scope say a condition, so they do not say how answers and names are connected.
        """
        reading = self._readings.get(used)
        if reading is None:
            taken = [False] * len(self.text)
            for name in used:
                mention = self.names[name].mention
                taken[mention.start : mention.end] = [True] * (mention.end - mention.start)
            for start, end in (*self.aside, *self.attributes, *self.fielded, *self._amounts, *self._left_out(used)):
                taken[start:end] = [True] * len(taken[start:end])
            words = tuple(word for word in self._words if not taken[word.start])[:MOST_WORDS]
            reading = self._readings[used] = RemainingWords(words, tuple(word for word in words if word.content))
        return reading

    def masked(self, roles: Sequence[tuple[int, str]]) -> str:
        """Return the question with the names in `roles` replaced by node types in brackets.

        Each pair in `roles` is a position in `names` and the type to write there. Words of conditions and attributes
        are left out, and so are all behind the first `MOST_WORDS`.
        """
        masks = {self.names[name].mention.start: (self.names[name].mention.end, f"[{role}]") for name, role in roles}
        unused = self._left_out([name for name, _ in roles])
        behind = [(word.start, len(self.text)) for word in self._words[MOST_WORDS : MOST_WORDS + 1]]
        masks = {start: mask for start, mask in masks.items() if not behind or start < behind[0][0]}
        cuts = sorted([*behind, *self.aside, *self.attributes, *self.fielded, *self._amounts, *unused])
        parts, at = [], 0
        for start, (end, mask) in sorted({**{first: (last, "") for first, last in cuts}, **masks}.items()):
            if start >= at:
                parts += [self.text[at:start], mask]
            elif not mask:
                end = max(end, at)
            else:
                parts.append(mask)
            at = max(at, end)
        return "".join([*parts, self.text[at:]])

    @cached_property
    def _amounts(self) -> list[Span]:
        """The stretches of numbers with their comparing words and units: *lighter than 1 kg* says no type.

        A verb of a measurable property (*weigh*) says none either where something is measured, nor any relation.
        """
        found = [(one.start, one.end) for one in self.cues.quantities if one.op != "=" or one.dimension]
        if found or self.superlatives or self.comparisons or self.cues.field:
            verbs = scales_of("en").verbs
            measuring = [one for one in self._words if one.text in verbs and stem(one.text) not in self.spoken]
            found += [(one.start, one.start + len(one.text)) for one in measuring]
        return found

    def _left_out(self, used: Sequence[int]) -> list[Span]:
        """Return the stretches of `named` that are no part of the names at the positions `used`."""
        held = [(self.names[at].mention.start, self.names[at].mention.end) for at in used]
        return [one for one in self.named if not any(one[0] < end and start < one[1] for start, end in held)]

    def describes(self, name: int) -> bool:
        """Whether a name (its place in `names`) stands before the head of a bare phrase: *winter* in *winter boots*."""
        mention = self.names[name].mention
        return (mention.start, mention.end) in self.named

    @property
    def of_its_head(self) -> bool:
        """Whether all that it names are nodes whose names end with its only word of content: *chairs*."""
        if len(self.names) != 1:
            return False
        [only] = self.names
        if only.how != "part" or only.words > 1 or only.marked:
            return False
        return all(word.start == only.mention.start for word in self._words if word.content)

    @property
    def said(self) -> tuple[Word, ...]:
        """All words of the question, those of its names too."""
        return self._words

    @cached_property
    def turnings(self) -> tuple[Turning, ...]:
        """The turning words outside names and numbers (`no more than 5`), each with its scope among these names."""
        numbers = self.cues.quantities
        return tuple(
            replace(cue, scope=self._scope(cue))
            for cue in map(self._before_number, self.cues.turnings)
            if not self._in_name(cue.start, cue.end)
            and not any(one.start < cue.end and cue.start < one.end for one in numbers)
        )

    def _before_number(self, turning: Turning) -> Turning:
        """Return a turning word without the words that a number behind it has: `not` of `not from 2018`."""
        for one in self.cues.quantities:
            if turning.start < one.start < turning.end:
                if not _denying().isdisjoint(words(self.text[one.start : turning.end])):
                    # In *with no more than two* the number itself has the turning word.
                    return replace(turning, start=one.start, end=one.end, scope=(one.start, one.end))
                end = turning.start + len(self.text[turning.start : one.start].rstrip())
                return replace(turning, end=end, scope=(one.start, max(turning.scope[1], one.end)))
        return turning

    @cached_property
    def superlatives(self) -> tuple[Superlative, ...]:
        """The superlatives outside names."""
        return tuple(cue for cue in self.cues.superlatives if not self._in_name(cue.start, cue.end))

    @cached_property
    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons with a name: its reference is one, or holds one.

        What stands behind that name is said of the answers: `lamps cheaper than Alba made by Ostervik`.
        """
        return tuple(
            replace(cue, reference=(cue.reference[0], self._reference_ends(*cue.reference)))
            for cue in self.cues.comparisons
            if not self._in_name(cue.start, cue.end) and self.names_in(cue.reference)
        )

    @cached_property
    def roles(self) -> tuple[Role, ...]:
        """The role of each name, in the order of `names`."""
        excluded = {at for cue in self.turnings for at in self.names_in(cue.scope)}
        reference = {at for cue in self.comparisons for at in self.names_in(cue.reference)}
        numbers = {at for at, name in enumerate(self.names) if self._counts(name)}
        numbers |= {at for span in self.counted for at in self.names_in(span)}
        return tuple(
            "reference" if at in reference else "excluded" if at in excluded else "number" if at in numbers else "start"
            for at in range(len(self.names))
        )

    def _scope(self, turning: Turning) -> Span:
        """Return what a turning word turns; behind a verb without anything after it (`cite nothing`) it is the verb.

        A scope ends behind its first name if another name follows that no comma, *and* or *or* joins to it: `lamps not
        made by Ostervik sold at Harbour Shop` asks for lamps that are sold there.
        """
        start, end = turning.scope
        if start < end:
            return start, self._first_name_ends(max(start, turning.end), end)
        near = [w for w in self._words if w.content and turning.start - _OBJECT <= w.start < turning.start]
        return (near[-1].start, near[-1].start + len(near[-1].text)) if near else turning.scope

    def _first_name_ends(self, start: int, end: int) -> int:
        """Return where the names end that a span begins with and that are joined to each other."""
        last = start
        for one in sorted((self.names[at].mention for at in self.names_in((start, end))), key=lambda one: one.start):
            if last > start and one.start > last and not joined(self.text[last : one.start]):
                return last
            last = max(last, one.end)
        return end

    def _reference_ends(self, start: int, end: int) -> int:
        """Return where the thing ends that answers are compared with: `older than Alba in Norway` compares with Alba.

        A preposition behind its name says something of the answers even where no other name follows that is known yet.
        """
        last = self._first_name_ends(start, end)
        first = min((self.names[at].mention for at in self.names_in((start, last))), key=lambda one: one.start)
        behind = words(self.text[first.end : last])[:1]
        placed = first.start - start <= _ARTICLE and any(word in _PLACING for word in behind)
        return first.end if placed else last

    def _counts(self, name: Named) -> bool:
        """Whether a name is a number that a comparison or a unit makes an amount."""
        start, end = name.mention.start, name.mention.end
        return not name.quoted and any(
            one.start <= start and end <= one.end and (one.op != "=" or one.dimension) and name.mention.text.isdigit()
            for one in self.cues.quantities
        )

    @cached_property
    def aside(self) -> tuple[Span, ...]:
        """The spans of the words that say conditions: turning words, superlatives and comparisons with their scopes."""
        spans: list[Span] = []
        for turning in self.turnings:
            spans += [(turning.start, turning.end), turning.scope]
        for superlative in self.superlatives:
            spans += [(superlative.start, superlative.end), *([superlative.counted] if superlative.counted else [])]
        for comparison in self.comparisons:
            spans += [(comparison.start, comparison.end), comparison.reference]
        if (asking := self.cues.asking) is not None and not self._in_name(asking.start, asking.end):
            spans.append((asking.start, asking.end))
        return tuple(spans)

    @cached_property
    def asks_for_field(self) -> FieldAsked | None:
        """The words that ask for a property; empty ones where no other condition stands in the way of a field's name.

        None if the question compares, orders or turns something: then a field that it names is what that is about.
        """
        if self.cues.field is not None:
            return self.cues.field
        held = [(cue.start, cue.end) for cue in self.cues.quantities]
        held += [(cue.start, cue.end) for cue in self.cues.dates]
        numbers = any(not self._in_name(start, end) for start, end in held)
        other = self.cues.asking is not None or self.superlatives or self.comparisons or self.turnings
        return None if numbers or other else FieldAsked()

    def before_its_head(self) -> list[Word]:
        """Return the words that describe what a bare phrase asks for: *warm* in *show me warm socks from Norway*.

        They are no names; a word that ends like a participle (*starring Ada Holm*) may stand for a relation, so then
        nothing is returned.
        """
        called = [(name.mention.start, name.mention.end) for name in self.names]
        before = self.phrase()
        described = [word for word in before if not any(start <= word.start < end for start, end in called)]
        return [] if any(word.text.endswith(_PARTICIPLE) for word in described) else described

    @cached_property
    def topics(self) -> tuple[Word, ...]:
        """Return the content words outside names and values behind *about* or *on*: what a text is to be about."""
        held = [(name.mention.start, name.mention.end) for name in self.names]
        held += [(value.start, value.end) for value in self.values]
        found, inside = [], False
        for word in self._words:
            if word.content:
                free = not any(start <= word.start < end for start, end in held)
                found += [word] if inside and free else []
            else:
                inside = word.text in _TOPICAL or (inside and word.text not in FUNCTION_WORDS - ARTICLES)
        return tuple(found)

    def phrase(self) -> list[Word]:
        """Return the words before the head of a bare phrase, those of names among them; none if it is no such phrase.

        The phrase is the first run of content words. Its head is the last name or word of the schema in it; what stands
        before the head describes it. A phrase behind *who* or *how* describes nothing.
        """
        held = [*self.aside, *((value.start, value.end) for value in self.values)]
        free = [word for word in self._words if not any(start <= word.start < end for start, end in held)]
        first = next((at for at, word in enumerate(free) if word.content), len(free))
        if any(word.text in ANSWER_OF or word.text in _NO_PHRASE for word in free[:first]):
            return []
        run = list(takewhile(lambda word: word.content, free[first:]))
        starts = {name.mention.start for name, role in zip(self.names, self.roles, strict=True) if role == "start"}
        heads = [at for at, word in enumerate(run) if word.start in starts or stem(word.text) in self.spoken]
        return run[: heads[-1]] if heads else []

    def names_in(self, span: Span) -> list[int]:
        """Return the positions in `names` of the names that lie in a span of the question."""
        start, end = span
        return [
            at
            for at, one in enumerate(self.names)
            if start - _ARTICLE <= one.mention.start and start < one.mention.end <= end
        ]

    def lists(self, one: int, other: int) -> bool:
        """Whether two names, by their positions, stand beside each other in a list: *fever and weight loss*."""
        first, second = sorted((self.names[at].mention for at in (one, other)), key=lambda name: name.start)
        between = (first.end, second.start)
        return not self.content_in(between, names=True) and joined(self.text[slice(*between)])

    def content_in(self, span: Span, names: bool = False) -> list[Word]:
        """Return the content words in a span of the question, without those of names unless `names` is set."""
        held = [] if names else [(one.mention.start, one.mention.end) for one in self.names]
        return [
            word
            for word in self._words
            if word.content
            and span[0] <= word.start < span[1]
            and not any(start <= word.start < end for start, end in held)
        ]

    def said_in(self, span: Span) -> list[Word]:
        """Return the content words in a span outside names, and expressions there such as *used for*, in their order.

        An expression may consist of function words alone.
        """
        content = self.content_in(span)
        starts = {start for start, _ in self.expressions if span[0] <= start < span[1]}
        return [word for word in self._words if word in content or word.start in starts]

    def _in_name(self, start: int, end: int) -> bool:
        """Whether a stretch lies in a name of several words, or in one that the question marks."""
        return any(
            one.mention.start <= start and end <= one.mention.end and (one.marked or one.words > 1)
            for one in self.names
        )

    @cached_property
    def _words(self) -> tuple[Word, ...]:
        words: list[Word] = []
        ends = dict(self.expressions)
        behind = 0
        for match in _WORD.finditer(self.text):
            if match.start() in ends:
                behind = ends[match.start()]
                expression = self.text[match.start() : behind].casefold()
                parts = [self._word(0, part.group()) for part in _WORD.finditer(expression)]
                # Function words that stand for an element only together are its word: *used for*.
                bare = all(part.text in FUNCTION_WORDS for part in parts)
                words.append(Word(match.start(), expression, bare or any(part.content for part in parts)))
            elif match.start() >= behind:
                words.append(self._word(match.start(), _POSSESSIVE.sub("", match.group().casefold())))
        return tuple(self._without_openings(tuple(self._topics(words))))

    def _without_openings(self, words: tuple[Word, ...]) -> Iterator[Word]:
        """Yield the words; those of a sentence that only tells of who asks have no content: *I count every gram.*

        It begins in the first person, wants nothing, and has no name, value or number, which a later sentence has.
        """
        at = begin = 0
        for match in _SENTENCE_END.finditer(self.text):
            first, end = at, match.end()
            while at < len(words) and words[at].start < end:
                at += 1
            own = words[first:at]
            tells = own and at < len(words) and own[0].text in _FIRST_PERSON
            tells = tells and _WANTING.isdisjoint(word.text for word in own)
            tells = tells and not self._says(begin, end) and self._says(end, len(self.text))
            begin = end
            yield from (replace(word, content=False) for word in own) if tells else own
        yield from words[at:]

    def _says(self, start: int, end: int) -> bool:
        """Whether a stretch of the question has a name, a value, or a cue."""
        cues = self.cues
        found = [(name.mention.start, name.mention.end) for name in self.names]
        for one in (self.values, cues.quantities, cues.dates, cues.turnings, cues.superlatives, cues.comparisons):
            found += [(cue.start, cue.end) for cue in one]
        return any(first < end and start < last for first, last in found)

    def _topics(self, words: Sequence[Word]) -> Iterator[Word]:
        """Yield the words; one of asking that alone says what a text is about is content: *papers on search*.

        What *which* asks for as a question word does (*which places*) is none.
        """
        for at, word in enumerate(words):
            if at and word.text in ASKED_AS and words[at - 1].text in WHICH and stem(word.text) not in self.spoken:
                yield replace(word, content=False)
                continue
            alone = at + 1 == len(words) or words[at + 1].text in FUNCTION_WORDS
            topic = at > 1 and alone and words[at - 1].text in _TOPICAL and words[at - 2].content
            yield replace(word, content=True) if topic and word.text not in FUNCTION_WORDS else word

    def _word(self, start: int, text: str) -> Word:
        asking = text in ASKING_WORDS and stem(text) not in self.spoken
        return Word(start, text, text not in FUNCTION_WORDS and not asking)


def counted_by(question: AnalysedQuestion, cue: Quantity) -> Span | None:
    """Return the words that a whole number counts, which stand right behind it; None if there are none."""
    ends = (cue.low, cue.high)
    if cue.dimension or cue.year or any(end != int(end) or end < 0 for end in ends):
        return None
    if any(one.mention.start < cue.end and cue.start < one.mention.end and one.words > 1 for one in question.names):
        return None
    end, run = cue.end, []
    for word in question.content_in((cue.end, cue.end + _REACH), names=True)[:_NOUN]:
        if question.text[end : word.start].strip() or _is_said_of_it(question, word):
            break
        end = word.start + len(word.text)
        run.append(word)
    return (run[0].start, end) if run else None


def _is_said_of_it(question: AnalysedQuestion, word: Word) -> bool:
    """Whether a word behind a number says something of what it counts: *under 30 sold here*, *five lamps made by X*.

    A participle right before a noun belongs to that noun: *three related works*.
    """
    first, *more = word.text.split()
    if not is_participle(first):
        return False
    behind = next((one for one in question.said if one.start > word.start), None)
    return bool(more) or behind is None or not behind.content


def joined(between: str) -> bool:
    """Whether the text between two names or values makes a list of them.

    Another preposition behind *and* says something else: *cheaper than Alba and in the category boots*.
    """
    if _LISTED.search(between):
        return True
    said = words(between)
    return not _joining().isdisjoint(said) and not (said[0] in _AND and said[-1] in _PLACING)


@lru_cache(maxsize=1)
def _denying() -> frozenset[str]:
    """Return the words that turn the comparison of a number, in every language that is read whole."""
    return frozenset().union(*(language(code).set("quantities", "no") for code in known_languages()))


@lru_cache(maxsize=1)
def _joining() -> frozenset[str]:
    """Return the words that join the names of a list, in every language that is read whole."""
    lists = [language(code).set("turning", name) for code in known_languages() for name in ("joining", "nor")]
    return frozenset().union(*lists)
