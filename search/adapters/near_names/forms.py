"""The other forms in which people say a name, computed from its spelling when it is indexed."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence

from search.adapters.name_words import Folded, folded_tokens
from search.language.words import FUNCTION_WORDS

WHOLE, TURNED, MAIN, BRACKET, INITIALS, SHORT, ACRONYM = range(7)
"""Kinds of forms.

All folded words; `X, Y` as `Y X`; the name without article, its title or subtitle alone; the abbreviation in brackets;
initials and surname of a name in full, and of a name that is stored with initials; the first letters of all words.
"""
Fold = Callable[[str], str]
ARTICLES = frozenset(("the", "a", "an"))
_SUBTITLE = re.compile(r":\s|[?!]\s|\s[-–—]\s|\s\(|\s\[")
_SENTENCE = re.compile(r"\.\s")
_BRACKETED = re.compile(r"[(\[]([^\s()\[\]]{2,12})[)\]]\s*$")
_LEAST_MAIN = 4
"""Fewest characters of a main title or of a name without its article."""
_WORDS_OF_SENTENCE = 4
"""Fewest words before a full stop that ends a main title; fewer are an abbreviation."""
_MOST_PERSON_WORDS = 4
_MOST_SUBTITLE = 8
_SPECIES_LETTERS = 5
"""Fewest letters of the second word of a name like *Mycobacterium tuberculosis*, which is said with an initial."""
_ACRONYM_WORDS = range(3, 9)
_MOST_INITIALS = 3


def code_of(key: str) -> int:
    """Return the hash of a form's key."""
    return int.from_bytes(hashlib.blake2b(key.encode(), digest_size=8).digest(), "little")


def folds_of(text: str, fold: Fold) -> list[str]:
    """Return the folded words of a text."""
    return folds_in(folded_tokens(text, fold))


def folds_in(tokens: Sequence[Folded]) -> list[str]:
    """Return the folded words of tokens."""
    return [word for token in tokens for word in token.folds]


def forms(name: str, tokens: Sequence[Folded], fold: Fold) -> Iterator[tuple[int, str]]:
    """Yield kind and key of every form of a name, whose tokens are given.

    A key is hashed and looked up in questions.
    """
    folds = folds_in(tokens)
    if not folds:
        return
    yield WHOLE, "".join(folds)
    # Written as one word, only the end of the name has an inflection.
    yield WHOLE, fold("".join(word for token in tokens for word in token.words))
    yield from _shortened(name, folds, fold)
    yield from _persons(name, [token for token in tokens if token.folds])
    if "-" not in name:
        yield from _acronyms(folds)


def _shortened(name: str, folds: Sequence[str], fold: Fold) -> Iterator[tuple[int, str]]:
    whole = "".join(folds)
    if folds[0] in ARTICLES and len(whole) - len(folds[0]) >= _LEAST_MAIN:
        yield MAIN, "".join(folds[1:])
    cut = _SUBTITLE.search(name)
    stop = _SENTENCE.search(name)
    if stop and (cut is None or stop.start() < cut.start()):
        cut = stop if name[: stop.start()].count(" ") + 1 >= _WORDS_OF_SENTENCE else cut
    if cut:
        main = "".join(folds_of(name[: cut.start()], fold))
        if len(main) >= _LEAST_MAIN and main != whole:
            yield MAIN, main
        yield from _subtitles(folds_of(name[cut.end() :], fold))
    if (bracketed := _BRACKETED.search(name)) and any(letter.isupper() for letter in bracketed[1]):
        yield BRACKET, "".join(folds_of(bracketed[1], fold))
    head, comma, tail = name.partition(", ")
    if comma and "," not in tail and head.count(" ") < 3 and tail.count(" ") < 3:
        yield TURNED, "".join(folds_of(f"{tail} {head}", fold))


def _subtitles(folds: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield a subtitle of a few words, with and without its article: *The Return of the King*."""
    if 1 < len(folds) <= _MOST_SUBTITLE:
        yield MAIN, "".join(folds)
        if folds[0] in ARTICLES and len(folds) > 2:
            yield MAIN, "".join(folds[1:])


def _persons(name: str, tokens: Sequence[Folded]) -> Iterator[tuple[int, str]]:
    """Yield the forms with initials of a name that may be a person's: a few words without digits, with capitals."""
    if any(letter.isdigit() for letter in name) or not name[:1].isupper():
        return
    if not 2 <= len(tokens) <= _MOST_PERSON_WORDS:
        return
    species = len(tokens) == 2 and len(tokens[1].words[0]) >= _SPECIES_LETTERS
    if not (name[tokens[-1].start].isupper() or species):
        return
    words = ["".join(token.folds) for token in tokens]
    letters = [word for word in words if len(word) == 1]
    if letters:
        surname = "".join(word for word in words if len(word) > 1)
        if surname and not name.isupper():
            yield from ((SHORT, key) for key in initial_keys("".join(letters), surname))
        return
    keys = {initials_key(words[0][0], "".join(words[1:])), initials_key(words[0][0], words[-1])}
    keys.add(initials_key("".join(word[0] for word in words[:-1]), words[-1]))
    yield from ((INITIALS, key) for key in sorted(keys))


def initial_keys(letters: str, surname: str) -> list[str]:
    """Return the keys of a surname with initials: with all of them, and with the first alone."""
    return list(dict.fromkeys((initials_key(letters[:_MOST_INITIALS], surname), initials_key(letters[0], surname))))


def initials_key(letters: str, surname: str) -> str:
    """Return the key of initials and a surname; the bar keeps it apart from words."""
    return f"{letters}|{surname}"


def _acronyms(folds: Sequence[str]) -> Iterator[tuple[int, str]]:
    if len(folds) not in _ACRONYM_WORDS:
        return
    content = [word for word in folds if word not in FUNCTION_WORDS]
    for words in (folds, content):
        if len(words) in _ACRONYM_WORDS and all(len(word) > 1 and word[0].isalpha() for word in words):
            yield ACRONYM, acronym_key("".join(word[0] for word in words))
            if len(content) == len(folds):
                return


def acronym_key(letters: str) -> str:
    """Return the key of first letters; the dot keeps it apart from words."""
    return f"{letters}."
