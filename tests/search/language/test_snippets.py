"""Which part of a text is shown of a result, and which words of a question count for it."""

from search.domain.graph import Node
from search.language.snippets import snippet, telling_stems
from search.language.words import stem


def test_a_snippet_starts_at_the_sentence_that_shares_words_with_the_question() -> None:
    text = "It was made in a small town by the sea. " * 8 + "The blue kettle keeps water warm for a whole day."
    shown = snippet(Node(0, "k", "product", "Kettle", fields={"d": text}), "which kettle keeps water warm", width=80)
    assert shown == "… The blue kettle keeps water warm for a whole day."


def test_a_snippet_is_prose_where_there_is_some() -> None:
    fields = {
        "forms": ["inhaler", "tablet"],
        "year": 1981,
        "about": "The blue puffer opens tight airways within minutes.",
    }
    assert snippet(Node(0, "k", "drug", "n", fields=fields), "q") == fields["about"]
    assert (
        snippet(Node(0, "k", "drug", "n", fields={"year": 1981, "forms": ["inhaler"]}), "q")
        == "year: 1981, forms: inhaler"
    )


def test_a_short_text_is_shown_whole_and_none_is_empty() -> None:
    assert snippet(Node(0, "k", "t", "n", fields={"d": "short"}), "q") == "d: short"
    assert snippet(Node(0, "k", "t", "n"), "q") == ""


def test_words_that_only_join_others_choose_no_sentence() -> None:
    """The first sentence shares `which`, `but`, `not` and `the` with the question; the last one its subject."""
    text = "But not the one which was the first, but not which. " + "Nobody came. " * 8 + "Frost lifts the tents."
    shown = snippet(Node(0, "k", "paper", "P", fields={"d": text}), "Which of the tents but not the first by frost", 60)
    assert shown.endswith("Frost lifts the tents.")


def test_other_endings_of_a_word_are_the_same_word() -> None:
    text = "A long story of nothing at all. " * 8 + "Drinks are cooled by ice."
    assert snippet(Node(0, "k", "t", "n", fields={"d": text}), "cooling a drink", 60).endswith("cooled by ice.")


def test_a_word_before_a_year_chooses_no_sentence_and_is_not_marked() -> None:
    """*Since* of *since 2018* says which years are meant: a text has it in whatever sense."""
    assert telling_stems("papers since 2018") == {stem("papers"), "2018"}
    assert telling_stems("Artikel seit 2018") == {stem("artikel"), "2018"}
    text = "Frost lifts the tents. " + "Nobody came. " * 8 + "Nobody has come since."
    assert snippet(Node(0, "k", "t", "n", fields={"d": text}), "frost since 2018", 60).startswith("Frost lifts")


def test_words_of_another_language_are_judged_by_its_own_lists() -> None:
    assert telling_stems("Welche Medikamente helfen nicht gegen Asthma?") >= {"asthma"}
    assert not telling_stems("Welche Medikamente helfen nicht gegen Asthma?") & {"nicht", "gegen", "welche", "welch"}
