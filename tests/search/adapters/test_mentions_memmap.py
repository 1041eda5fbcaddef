"""Names in questions, held against a scan of every stretch of words."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.adapters import mentions_memmap
from search.adapters.mentions_memmap import MemmapMentions
from search.adapters.string_table import StringTable, write_strings


def index(folder: Path, *names: str, aliases: dict[int, str] | None = None) -> MemmapMentions:
    rows = [(key, name, False) for key, name in enumerate(names)]
    mentions_memmap.build(folder, rows + [(key, alias, True) for key, alias in (aliases or {}).items()])
    return MemmapMentions(folder, mend_seconds=10.0)


def found(mentions: MemmapMentions, text: str) -> list[str]:
    return [mention.text for mention in mentions.find(text)]


WORDS = st.lists(st.sampled_from(["red", "Red", "sea", "king", "of", "the"]), min_size=1, max_size=4)
NAMES = WORDS.map(" ".join)


@given(
    names=st.lists(NAMES, max_size=8), words=st.lists(st.sampled_from(["red", "Sea", "king", "of", "xyz"]), max_size=7)
)
def test_every_stretch_that_is_a_name_is_found_and_no_other(
    tmp_path_factory: pytest.TempPathFactory, names: list[str], words: list[str]
) -> None:
    text = ", ".join(words)
    mentions = index(tmp_path_factory.mktemp("names"), *names)
    starts = [match.span() for match in re.finditer(r"\w+", text)]
    expected = {}
    for first in range(len(words)):
        for last in range(first, len(words)):
            stretch = " ".join(words[first : last + 1]).lower()
            keys = {key for key, name in enumerate(names) if name.lower() == stretch}
            if keys:
                expected[starts[first][0], starts[last][1]] = keys
    got = mentions.find(text)
    assert {(mention.start, mention.end): set(mention.keys) for mention in got} == expected
    lengths = [mention.end - mention.start for mention in got]
    assert lengths == sorted(lengths, reverse=True)
    assert all(text[mention.start : mention.end] == mention.text for mention in got)


@given(text=st.text())
def test_any_text_may_be_asked(tmp_path_factory: pytest.TempPathFactory, text: str) -> None:
    mentions = index(tmp_path_factory.mktemp("names"), "What?", text)
    for mention in mentions.find(text):
        assert text[mention.start : mention.end] == mention.text


@pytest.mark.parametrize(
    ("name", "text", "mention"),
    [
        ("Amélie", "who directed amelie", "amelie"),
        ("Hauptstraße", "HAUPTSTRASSE", "HAUPTSTRASSE"),
        ("TNF-α", "genes near tnf‑α please", "tnf‑α"),
        ("Schindler's List", "who wrote Schindler’s List", "Schindler’s List"),
        ("C.H.O.M.P.S.", "the film C.H.O.M.P.S., when", "C.H.O.M.P.S"),
        ("Tom & Jerry", "tom and jerry films", "tom and jerry"),
        ("千と千尋の神隠し", "誰が千と千尋の神隠しを監督", "千と千尋の神隠し"),
        ("ＡＢＣ", "what is abc", "abc"),
    ],
)
def test_spelling_does_not_keep_a_name_from_being_found(tmp_path: Path, name: str, text: str, mention: str) -> None:
    assert found(index(tmp_path, name), text) == [mention]


def test_signs_that_tell_names_apart_count(tmp_path: Path) -> None:
    mentions = index(tmp_path, "C", "C++", "C#")
    assert mentions.lookup("c++") == (1,)
    assert mentions.lookup("C#") == (2,)
    assert mentions.lookup("c") == (0,)


def test_a_name_is_not_found_inside_a_word(tmp_path: Path) -> None:
    assert found(index(tmp_path, "art", "Art"), "the start of parties") == []


def test_names_shared_by_several_nodes_come_together_and_case_tells_them_apart(tmp_path: Path) -> None:
    (mention,) = index(tmp_path, "Takashi Miike", "takashi miike").find("films by Takashi Miike")
    assert dict(zip(mention.keys, mention.exact, strict=True)) == {0: True, 1: False}


def test_punctuation_counts_for_exactness(tmp_path: Path) -> None:
    mentions = index(tmp_path, "What?")
    assert [mention.exact for mention in mentions.find("who directed What?")] == [(True,)]
    assert [mention.exact for mention in mentions.find("What films")] == [(False,)]


def test_an_alias_leads_to_its_node_and_a_node_is_listed_once(tmp_path: Path) -> None:
    mentions = index(tmp_path, "Bovine spongiform encephalopathy", "Kuru", aliases={0: "mad cow disease", 1: "kuru"})
    assert mentions.lookup("Mad-cow disease") == (0,)
    assert mentions.lookup("Kuru") == (1,)


def test_what_is_no_name_is_not_found(tmp_path: Path) -> None:
    mentions = index(tmp_path, "!!!", "Kuru", " ".join(["long"] * 41))
    assert mentions.lookup("!!") == ()
    assert mentions.lookup("long") == ()
    assert found(mentions, "!! … 🎬") == []


@pytest.mark.parametrize(
    ("text", "mention"),
    [
        ("who starred in Jurasic Park", "Jurasic Park"),
        ("what is “jurassic prak” about", "jurassic prak"),
    ],
)
def test_a_misspelt_word_is_mended_where_the_writing_marks_a_name(tmp_path: Path, text: str, mention: str) -> None:
    (got,) = index(tmp_path, "Jurassic Park", "Kuru").find(text)
    assert (got.text, got.keys, got.exact) == (mention, (0,), (False,))
    assert 0.75 < got.similarity < 1.0


@pytest.mark.parametrize("text", ["a jurasic park", "Jurasic parks", "JP is not it", "Jurassik-X Parkland"])
def test_other_words_are_not_mended(tmp_path: Path, text: str) -> None:
    assert found(index(tmp_path, "Jurassic Park"), text) == []


def test_mending_stops_when_its_time_is_over(tmp_path: Path) -> None:
    index(tmp_path, "Jurassic Park")
    assert found(MemmapMentions(tmp_path, mend_seconds=0.0), "who starred in Jurasic Park") == []


def test_an_index_without_names_finds_nothing(tmp_path: Path) -> None:
    mentions = index(tmp_path)
    assert found(mentions, "Who wrote Kuru?") == []
    assert mentions.lookup("Kuru") == ()


def test_a_very_long_question_is_searched_whole(tmp_path: Path) -> None:
    assert found(index(tmp_path, "Kuru"), "word " * 3000 + "kuru") == ["kuru"]


def test_a_name_of_thousands_of_nodes_means_all_of_them_in_each_spelling(tmp_path: Path) -> None:
    """Equal spellings are compared at once; the result is the same as one by one."""
    names = ["Ann Lee"] * 3_000 + ["ann lee"] * 2 + ["Ann-Lee"]
    mentions = index(tmp_path, *names, "Lee Ann", *["Bob"] * 1_000)
    (mention,) = [one for one in mentions.find("where does Ann Lee live") if one.text == "Ann Lee"]
    assert mention.keys == tuple(range(3_003))
    assert mention.exact == (True,) * 3_000 + (False,) * 3
    assert mentions.lookup("BOB") == tuple(range(3_004, 4_004))


def test_stretches_of_strings_are_read_at_once(tmp_path: Path) -> None:
    for at, strings in enumerate((["ab"] * 4, ["a", "bab", "", "é"], ["", ""], ["x"], ["aa", "aa", "aaaa", ""])):
        write_strings(tmp_path / f"{at}", strings)
        table = StringTable.open(tmp_path / f"{at}")
        for first in range(len(strings) + 1):
            for last in range(first, len(strings) + 1):
                assert table.stretch(first, last) == strings[first:last]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("🎉🎸", ["🎉🎸"]),
        ("who made 🎉🎸?", ["🎉🎸"]),
        ("谁做了🎉🎸", ["🎉🎸"]),
        ("songs on $$$.", ["$$$"]),
        ('what is "$$$"?', ["$$$"]),
        ("*", ["*"]),
        ("who made * and $$$", ["$$$", "*"]),
        ("...", ["..."]),
        ("♥\ufe0f", ["♥\ufe0f"]),
        ("___", ["___"]),
        # Marks beside words are marks.
        ("who* is it...", []),
        ("why?", []),
        ("a ... b", ["..."]),
    ],
)
def test_names_of_symbols_alone_are_found_where_they_stand_free(tmp_path: Path, text: str, names: list[str]) -> None:
    assert found(index(tmp_path, "🎉🎸", "$$$", "*", "...", "♥", "___", "?!"), text) == names


def test_a_name_of_symbols_is_looked_up_as_it_is_and_is_exact(tmp_path: Path) -> None:
    mentions = index(tmp_path, "$$$", "C++", "C", "")
    assert [mentions.lookup(name) for name in ("$$$", "$$", "C++", "c", "", " ")] == [(0,), (), (1,), (2,), (), ()]
    [mention] = mentions.find("made by $$$")
    assert (mention.start, mention.end, mention.exact) == (8, 11, (True,))
