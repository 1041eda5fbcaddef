"""The searched text as the page prints it."""

from search.domain.evidence import Path, PathEdge, PathNode
from search.domain.expansion import Expansion, ExpansionPart
from search.domain.graph import Node
from search.domain.question import Question
from search.views.shown.expansion import ShownExpansion, ShownPart, show_expansion

TIDE, ANN = Node(1, "t", "film", "Tide"), Node(2, "a", "person", "Ann")


def test_each_part_says_where_it_comes_from() -> None:
    path = Path((PathNode(ANN), PathNode(TIDE)), (PathEdge("directed_by", "in"),))
    parts = [
        ExpansionPart("film: Tide", "document", TIDE),
        ExpansionPart("Ann made Tide.", "triple", TIDE, path),
        ExpansionPart("A film.", "model"),
    ]
    expansion = Expansion.of(Question("Who?"), parts, each=8, total=100)
    assert show_expansion({"expansion": expansion.to_json()}) == ShownExpansion(
        "Who?\n\nfilm:\n\nAnn made\n\nA film.",
        (
            ShownPart("The question", "Who?"),
            ShownPart("Document", "film:", "Tide", "t", cut=5),
            ShownPart("Relation", "Ann made", "Tide", "t", "Ann ← directed by — Tide", cut=6),
            ShownPart("Written by the language model", "A film."),
        ),
    )


def test_a_search_for_the_question_itself_shows_nothing() -> None:
    assert show_expansion({"expansion": None}) is None
    assert show_expansion({}) is None
