from search.domain.graph import Node
from search.text import DocumentForm, document, field_text, name_text, prose, reranker_document, vector_texts, words

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


def test_prose_holds_the_type_and_what_is_said_in_sentences_without_names_and_numbers() -> None:
    said = "Keeps soup hot until the ferry docks."
    fields = {"description": said, "price": 39, "released": "2020-01-15", "features": ["hot 20 hours", "two cups"]}
    node = Node(0, "OV-1000", "product_line", "Isvidde Flask", ("Isvidde Litre",), fields=fields)
    # The features have five words, one fewer than prose; with one word more they belong to it.
    assert prose(node) == f"product line: {said}"
    longer = Node(
        0, "OV-1000", "product", "Isvidde Flask", fields={**fields, "features": ["hot 20 hours", "two big cups"]}
    )
    assert prose(longer) == f"product: {said} hot 20 hours; two big cups"
    assert prose(Node(1, "red", "color", "Red", fields={"hex": "#b3261e"})) == ""
    assert prose(Node(2, "x", "film", "X", fields={"page": "https://example.org/a b c d e f g"})) == ""


def test_prose_has_a_vector_where_the_document_says_much_else() -> None:
    said = "Keeps soup hot until the ferry docks."
    flask = Node(0, "F", "flask", "Isvidde", fields={"description": said})
    # "flask: " and the 37 characters, of "flask: Isvidde", a line's end, "description: " and the 37: 44 of 65.
    assert vector_texts("prose", flask, {}) == []
    # 26 more of "\nsold by: Holm's; Vik's; Ås": 44 of 92 are below 60 %.
    assert vector_texts("prose", flask, {"SOLD_BY": ["Holm's", "Vik's", "Ås"]}) == [f"flask: {said}"]
