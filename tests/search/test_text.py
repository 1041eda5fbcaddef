from search.domain.graph import Node
from search.text import DocumentForm, document, field_text, name_text, reranker_document, snippet, words

NODE = Node(0, "p1", "gene_protein", "IL10RB", ("CRFB4",), "", {"details": "A receptor.", "sites": ["a", "b"], "n": 3})


def test_identifiers_are_read_as_words() -> None:
    assert words("HAS_BRAND") == "has brand"
    assert words("  gene__protein ") == "gene protein"


def test_a_name_text_holds_the_aliases() -> None:
    assert name_text(NODE) == "IL10RB | CRFB4"


def test_a_document_names_type_name_aliases_fields_and_neighbours() -> None:
    assert document(NODE, {"PARTICIPATES_IN": ["signalling", "defence"]}).splitlines() == [
        "gene protein: IL10RB",
        "also known as CRFB4",
        "details: A receptor.",
        "sites: a; b",
        "n: 3",
        "participates in: signalling; defence",
    ]


def test_at_most_ten_names_a_relation() -> None:
    names = [f"n{i}" for i in range(30)]
    assert document(NODE, {"R": names}).splitlines()[-1] == "r: " + "; ".join(names[:10])


def test_a_number_and_a_list_read_as_text() -> None:
    assert field_text(2.5) == "2.5"
    assert field_text([1, 2]) == "1; 2"


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
    assert snippet(Node(0, "k", "drug", "n", fields={"year": 1981, "forms": ["inhaler"]}), "q") == "1981 inhaler"


def test_a_short_text_is_shown_whole_and_none_is_empty() -> None:
    assert snippet(Node(0, "k", "t", "n", fields={"d": "short"}), "q") == "short"
    assert snippet(Node(0, "k", "t", "n"), "q") == ""


def test_the_document_of_a_reranker_has_cut_fields_and_names_of_both_directions() -> None:
    """GRASP's form: type and name, then fields, then neighbours by relation."""
    node = Node(7, "d7", "drug", "Mesalazine", aliases=("5-ASA", "Mesalamine"), fields={
        "half_life": 5, "description": "one two  three\nfour five", "codes": ["A", "B"], "note": "",
    })  # fmt: skip
    said = reranker_document(node, {"INDICATED_FOR": ["Colitis", "Crohn", "Other"], "NONE": []}, DocumentForm(3, 2))
    assert said == (
        "[drug] Mesalazine\n[also known as] 5-ASA; Mesalamine\n[half life] 5\n[description] one two three\n"
        "[codes] A; B\n[indicated for] Colitis; Crohn"
    )
    without_spaces = Node(8, "d8", "drug", "X", fields={"text": "x" * 1000})
    assert reranker_document(without_spaces, {}, DocumentForm(10, 2)) == "[drug] X\n[text] " + "x" * 120
