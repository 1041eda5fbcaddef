"""Names said in another way than they are stored, held against comparisons with every name of the demo bases."""

from __future__ import annotations

import random
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import OSA

from search.adapters import mentions_memmap, near_names, spelling_memmap
from search.adapters.mentions_memmap import MemmapMentions
from search.adapters.name_words import singular, words_of
from search.adapters.spelling_memmap import TWICE, Spellings, correctable
from search.adapters.string_table import StringTable, write_strings
from search.interfaces import Mention
from search.language.common import is_word
from tests.search.demo_schema import demo_nodes

BASES = ("biomedical", "papers", "products")


def index(folder: Path, *names: str, language: str = "en") -> MemmapMentions:
    return index_of(folder, [(key, name, False) for key, name in enumerate(names)], language)


def index_of(folder: Path, rows: list[tuple[int, str, bool]], language: str = "en") -> MemmapMentions:
    exact, near = folder / "mentions", folder / "near_names"
    exact.mkdir()
    near.mkdir()
    mentions_memmap.build(exact, rows)
    near_names.build(near, exact, language)
    return MemmapMentions(exact, near=near)


def told(mentions: list[Mention]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(mention.text, mention.how, mention.keys) for mention in mentions]


NAMES = (
    "Jarl Wennerholt", "Alzheimer's disease", "World Health Organization", "The Godfather",
    "Cousins or neighbours? Telling cognates from loans", "Proceedings of the Qualities of Literary Translation",
    "Keane T.M.", "Moosbett Mat", "Brunel, Aurélie", "Regulatory Sequence Analysis (RSAT)",
    "Mycobacterium tuberculosis", "low-density lipoprotein receptor", "Fourth Workshop on Gender Bias", "wolf",
)  # fmt: skip


@pytest.mark.parametrize(
    ("text", "said", "how", "name"),
    [
        ("films of Jarl Wennerholt's brother", "Jarl Wennerholt", "name", 0),
        ("everything by J. Wennerholt", "J. Wennerholt", "initials", 0),
        ("what has Wennerholt made", "Wennerholt", "part", 0),
        ("lamps by Jarl Wenerholt", "Jarl Wenerholt", "spelling", 0),
        ("lamps by Jral Wenerhold", "Jral Wenerhold", "spelling", 0),
        ("genes of Alzheimers disease", "Alzheimers disease", "possessive", 1),
        ("genes of alzhiemers diseese", "alzhiemers diseese", "spelling", 1),
        ("reports of the WHO", "WHO", "abbreviation", 2),
        ("who made Godfather", "Godfather", "part", 3),
        ("papers that cite Cousins or neighbours?", "Cousins or neighbours", "part", 4),
        ("papers of the Qualities of Literary Translation workshop", "Qualities of Literary Translation", "part", 5),
        ("tools by Thomas Keane", "Thomas Keane", "initials", 6),
        ("tools by T. Keane", "T. Keane", "initials", 6),
        ("the Moosbettmat", "Moosbettmat", "joined", 7),
        ("a moos bett mat", "moos bett mat", "joined", 7),
        ("the moosbet mats", "moosbet mats", "spelling", 7),
        ("things by Aurelie Brunel", "Aurelie Brunel", "part", 8),
        ("is RSAT free", "RSAT", "abbreviation", 9),
        ("who studies M. tuberculosis", "M. tuberculosis", "initials", 10),
        ("what binds the LDL receptor", "LDL receptor", "part", 11),
        ("the 4th workshops on gender bias", "4th workshops on gender bias", "plural", 12),
        ("howling wolves", "wolves", "plural", 13),
        ("who suffers from tuberculosis Mycobacterium", "tuberculosis Mycobacterium", "part", 10),
    ],
)  # fmt: skip
def test_each_way_of_saying_a_name_is_found_and_told(tmp_path: Path, text: str, said: str, how: str, name: int) -> None:
    mentions = index(tmp_path, *NAMES).find(text)
    best = max(mentions, key=lambda mention: (mention.end - mention.start, mention.similarity))
    assert (best.text, best.how, best.keys) == (said, how, (name,))
    assert text[best.start : best.end] == best.text
    assert best.meant == ("" if how == "name" else NAMES[name])
    assert (best.similarity == 1.0) == (how == "name")


@pytest.mark.parametrize(
    "text",
    [
        "who directed it", "what do people say about a health organization", "the sequence of events",
        "things by Emma Wennerholt", "which gender is it", "the WHERE clause", "a density of two", "literary criticism",
        "cousins of mine", "written by I. Keane", "mats",
    ],
)  # fmt: skip
def test_words_of_names_alone_or_contradicted_are_no_names(tmp_path: Path, text: str) -> None:
    assert told(index(tmp_path, *NAMES).find(text)) == []


def test_words_of_a_name_in_another_order_neither_begin_with_a_joining_word_nor_cut_a_name(tmp_path: Path) -> None:
    mentions = index(tmp_path, "Cancer pathway", "Wnt signaling pathway", "Wnt signaling pathway and pluripotency")
    said = told(mentions.find("annotated with both cancer pathway and Wnt signaling pathway"))
    assert sorted(said) == [("Wnt signaling pathway", "name", (1,)), ("cancer pathway", "name", (0,))]


def test_a_surname_means_everybody_who_has_it_unless_they_are_many(tmp_path: Path) -> None:
    few = [f"{first} Solheim" for first in ("Ingrid", "Torvald")]
    many = [f"{chr(65 + at)}nna Smythe" for at in range(20)]
    mentions = index(tmp_path, *few, *many)
    assert told(mentions.find("papers by Solheim")) == [("Solheim", "part", (0, 1))]
    assert told(mentions.find("papers by Smythe")) == []


def test_a_name_as_it_is_stored_comes_first_and_hides_nearer_ones(tmp_path: Path) -> None:
    mentions = index(tmp_path, "Anna Rogers", "Ana Rogers")
    assert told(mentions.find("papers by Ana Rogers")) == [("Ana Rogers", "name", (1,))]
    assert told(mentions.find("papers by Anna Rodgers")) == [("Anna Rodgers", "spelling", (0,))]


def test_other_languages_are_folded_by_their_own_stemmer(tmp_path: Path) -> None:
    mentions = index(tmp_path, "Rote Lampe", "Häuser", language="de")
    assert told(mentions.find("alle roten Lampen")) == [("roten Lampen", "plural", (0,))]
    assert told(mentions.find("welches Haus")) == [("Haus", "plural", (1,))]


def test_a_release_without_the_files_is_searched_as_before(tmp_path: Path) -> None:
    mentions_memmap.build(tmp_path, [(0, "Jarl Wennerholt", False)])
    old = MemmapMentions(tmp_path, mend_seconds=10.0, near=tmp_path / "near_names")
    assert [mention.text for mention in old.find("by Jarl Wenerholt")] == ["Jarl Wenerholt"]
    assert old.find("what has Wennerholt made") == old.translated("Wennerholt", 0, 10) == []


def test_a_word_stands_for_the_few_short_names_that_end_with_it(tmp_path: Path) -> None:
    mentions = index(
        tmp_path, "Merino Wool", "Lamb Wool", "Wool Socks", "Wool", "A title of many words that ends with wool"
    )
    [found] = mentions.ending("made of wool", 8, 12)
    assert (found.text, found.how, found.keys) == ("wool", "part", (0, 1))
    assert mentions.ending("made of stone", 8, 13) == mentions.ending("made of wool", 0, 7) == []


def misspelt(name: str, rnd: random.Random) -> str | None:
    """Return the name with one typing error in one of its long words."""
    places = [at for at, word in enumerate(name.split(" ")) if len(word) >= 6 and word.isascii() and word.isalpha()]
    if not places:
        return None
    words = name.split(" ")
    at = rnd.choice(places)
    word, place = words[at], rnd.randrange(1, len(words[at]) - 1)
    words[at] = rnd.choice(
        (word[:place] + word[place + 1 :], word[:place] + word[place] + word[place:],
         word[:place] + word[place + 1] + word[place] + word[place + 2 :], word[:place] + "u" + word[place + 1 :])
    )  # fmt: skip
    return " ".join(words)


@pytest.mark.parametrize("base", BASES)
def test_a_misspelt_name_is_found_where_a_comparison_with_every_name_finds_it(tmp_path: Path, base: str) -> None:
    """The oracle compares the whole name with all names, one by one; what it finds alone must be found."""
    nodes = demo_nodes(base)
    rows = [(node.key, name, name != node.name) for node in nodes for name in (node.name, *node.aliases)]
    mentions = index_of(tmp_path, rows)
    rnd = random.Random(7)
    names = sorted({" ".join(words_of(name)) for _, name, _ in rows})
    tried = missed = 0
    for node in nodes:
        said = misspelt(node.name, rnd)
        if said is None or len(said.split()) > 8 or words_of(said) == words_of(node.name):
            continue
        if any(is_word(word, "en") for word in set(words_of(said)) - set(words_of(node.name))):
            continue  # *selling* is no misspelling of *swelling*
        plain = " ".join(words_of(said))
        near = [name for name in names if OSA.distance(plain, name, score_cutoff=1) <= 1]
        if near != [" ".join(words_of(node.name))]:
            continue
        tried += 1
        text = f"what is there about {said}, please"
        whole = [mention for mention in mentions.find(text) if mention.text == said.rstrip("!?.,")]
        missed += not any(node.key in mention.keys for mention in whole)
    assert tried > 100
    assert missed <= 0.03 * tried


@pytest.mark.parametrize("base", BASES)
def test_names_without_accents_joined_or_possessive_are_found(tmp_path: Path, base: str) -> None:
    nodes = demo_nodes(base)
    mentions = index_of(tmp_path, [(node.key, node.name, False) for node in nodes])
    for node in nodes:
        for said in ways(node.name):
            found = {key for mention in mentions.find(f"about {said}!") for key in mention.keys}
            assert node.key in found, said


def ways(name: str) -> Iterator[str]:
    """Yield ways of typing a name that change no letter."""
    yield "".join(letter for letter in unicodedata.normalize("NFD", name) if not unicodedata.combining(letter))
    yield f"{name}'s"
    yield name.lower()
    words = name.split(" ")
    if 2 <= len(words) <= 3 and all(word.isalpha() for word in words):
        yield "-".join(words)
        yield "".join(words)


LETTERS = st.text(alphabet="abcde", min_size=1, max_size=11)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
@given(words=st.lists(LETTERS, max_size=25, unique=True), asked=LETTERS)
def test_near_words_are_those_within_one_or_two_errors(tmp_path: Path, words: list[str], asked: str) -> None:
    """Against a comparison with every word; words of at most `PREFIX` letters, for which the index is exact."""
    words = [word for word in words if len(word) <= spelling_memmap.PREFIX]
    asked = asked[: spelling_memmap.PREFIX]
    write_strings(tmp_path / "words", words)
    spelling_memmap.build(tmp_path, words)
    spellings = Spellings(tmp_path, StringTable.open(tmp_path / "words"))
    found = spellings.close(asked, most=100)
    allowed = 2 if len(asked) >= TWICE else 1
    expected = {
        (at, errors)
        for at, word in enumerate(words)
        if correctable(word) and correctable(asked)
        and 0 < (errors := OSA.distance(asked, word)) <= allowed
        and (errors == 1 or len(word) >= TWICE)
        and (word[0] == asked[0] or len(asked) >= TWICE)
    }  # fmt: skip
    assert set(found) >= {pair for pair in expected if pair[1] == 1}
    assert {pair for pair in found if pair not in expected and len(words[pair[0]]) >= TWICE} == set()
    assert [errors for _, errors in found] == sorted(errors for _, errors in found)


def test_an_index_in_several_shards_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = [f"{a}{b}orrible{c}" for a in "abcdefgh" for b in "ijklm" for c in "nopq"]
    folders = [tmp_path / "one", tmp_path / "many"]
    for folder, size in zip(folders, (spelling_memmap.ENTRIES_AT_ONCE, 500), strict=True):
        folder.mkdir()
        monkeypatch.setattr(spelling_memmap, "ENTRIES_AT_ONCE", size)
        write_strings(folder / "words", words)
        spelling_memmap.build(folder, words)
    one, many = (Spellings(folder, StringTable.open(folder / "words")) for folder in folders)
    for word in words[::7]:
        assert one.close(word[1:], 9) == many.close(word[1:], 9) != []


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("polyarthrite rhumatoïde", "Rheumatoid arthritis"), ("esclerosis múltiple", "Multiple sclerosis"),
        ("Tuberkulose", "Tuberculosis"), ("Migräne", "Migraine"), ("schizophrénie", "Schizophrenia"),
        ("metformine", "Metformin"), ("insuffisance cardiaque", "Heart failure"),
    ],
)  # fmt: skip
def test_words_with_nearly_the_same_letters_are_found_in_another_language(
    tmp_path: Path, phrase: str, name: str
) -> None:
    nodes = demo_nodes("biomedical")
    rows = [(node.key, called, called != node.name) for node in nodes for called in (node.name, *node.aliases)]
    text = f"quoi sur {phrase} ?"
    found, *_ = index_of(tmp_path, rows).translated(text, 9, 9 + len(phrase))
    assert (nodes[found.keys[0]].name, found.how, found.text) == (name, "translated", phrase)


@pytest.mark.parametrize("phrase", ["winter roads", "the little boy", "makes no sound", "", "?!", "مرحبا", "late"])
def test_other_words_are_no_translations(tmp_path: Path, phrase: str) -> None:
    nodes = demo_nodes("biomedical")
    assert index_of(tmp_path, [(n.key, n.name, False) for n in nodes]).translated(phrase, 0, len(phrase)) == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(names=st.lists(st.text(max_size=30), max_size=4), text=st.text(max_size=80))
def test_any_names_and_any_text_may_be_asked(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], text: str
) -> None:
    mentions = index(tmp_path_factory.mktemp("names"), "What?", *names)
    for mention in [*mentions.find(text), *mentions.translated(text, 0, len(text))]:
        assert text[mention.start : mention.end] == mention.text
        assert mention.keys
        assert 0 < mention.similarity <= 1
        assert len(mention.keys) == len(mention.exact)


LONG_NAMES = (
    "Airborne electromagnetic sounding of landfast ice in narrow fjords", "Melt ponds as a source of bias", "Ada Holm",
    "Wolf", "İstanbul'un ışıkları", "ﬁne ﬂoors ﬀ", "ß ẞ ŉ", "日本語の論文", "e\u0301cole e\u0301lan", "AT-3 / B–7",
)  # fmt: skip
PIECES = st.one_of(
    st.sampled_from(LONG_NAMES), st.sampled_from(LONG_NAMES).map(str.upper), st.text(max_size=12),
    st.sampled_from(LONG_NAMES).map(str.lower), st.sampled_from(LONG_NAMES).map(lambda name: name[:-1]),
    st.sampled_from(["\u200d", "\u202e", "'s"]),
)  # fmt: skip


@pytest.fixture(scope="module")
def long_names(tmp_path_factory: pytest.TempPathFactory) -> MemmapMentions:
    return index(tmp_path_factory.mktemp("long"), *LONG_NAMES)


@settings(max_examples=40, deadline=None)
@given(
    pieces=st.lists(PIECES, min_size=1, max_size=40), between=st.sampled_from([" ", " of the ", ", ", "", "\n", "-"])
)
def test_a_question_of_many_long_names_is_read_to_its_end(
    long_names: MemmapMentions, pieces: list[str], between: str
) -> None:
    text = (between.join(pieces) * (1 + 10_000 // max(1, len(between.join(pieces)))))[:10_000]
    for mention in long_names.find(text):
        assert text[mention.start : mention.end] == mention.text
        assert len(mention.keys) == len(mention.exact) > 0


@pytest.mark.parametrize("times", [13, 14, 60, 149])
@pytest.mark.parametrize("name", LONG_NAMES)
def test_a_name_behind_the_last_word_that_is_searched_is_found_as_it_is_stored(
    long_names: MemmapMentions, name: str, times: int
) -> None:
    text = " ".join([name] * times)
    assert sum(mention.how == "name" and mention.text == name for mention in long_names.find(text)) == times


@pytest.mark.parametrize(
    ("word", "folded"),
    [
        ("diseases", "disease"), ("boxes", "box"), ("therapies", "therapy"), ("wolves", "wolf"), ("glass", "glass"),
        ("virus", "virus"), ("arthritis", "arthritis"), ("analyses", "analysis"), ("children", "child"),
        ("ties", "tie"),        ("4th", "fourth"), ("21st", "21st"), ("bus", "bus"), ("as", "as"), ("søs", "sos"),
    ],
)  # fmt: skip
def test_plurals_fold_to_their_singular(word: str, folded: str) -> None:
    assert singular(word) == folded
