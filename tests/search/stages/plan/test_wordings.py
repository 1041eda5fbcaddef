"""Ways in which people put questions about walks: where the question word stands, and what is said twice."""

from __future__ import annotations

from pathlib import Path

import pytest

from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.search.stages.plan.films import FILMS, answers, graph_of, planner_of


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_of(tmp_path_factory.mktemp("films"), FILMS)


@pytest.mark.parametrize(
    ("text", "hops", "found"),
    [
        (  # a question word behind a verb, or at the end, asks; it begins no relative clause
            "the films directed by Ann Arbor starred who",
            [("DIRECTED_BY", "in"), ("STARRED_ACTORS", "out")],
            {"Cy Clone", "Dee Dee"},
        ),
        ("the film Alpha Rising starred which actors", [("STARRED_ACTORS", "out")], {"Cy Clone"}),
        (  # a relation with a word for each way is walked there and back
            "which films were directed by the director of Beta Falls",
            [("DIRECTED_BY", "out"), ("DIRECTED_BY", "in")],
            {"Alpha Rising"},
        ),
        ("what kind of film is Beta Falls", [("HAS_GENRE", "out")], {"comedy"}),
        (
            "what types are the films directed by Ann Arbor",
            [("DIRECTED_BY", "in"), ("HAS_GENRE", "out")],
            {"drama", "comedy"},
        ),
        (  # what is shared is named behind the word that says so
            "who directed films that share actors with Gamma Light",
            [("STARRED_ACTORS", "out"), ("STARRED_ACTORS", "in"), ("DIRECTED_BY", "out")],
            {"Ann Arbor"},
        ),
        (  # a participle between a name and a noun belongs to the name
            "who is listed as director of Cy Clone starred films",
            [("STARRED_ACTORS", "in"), ("DIRECTED_BY", "out")],
            {"Ann Arbor", "Bob Berg"},
        ),
    ],
)
def test_the_words_say_the_walk(planner: Planner, text: str, hops: list[tuple[str, str]], found: set[str]) -> None:
    best = planner(Question(text), Limit())[0].plan
    assert sorted(hop.rel for hop in best.hops) == sorted(rel for rel, _ in hops)
    assert answers(FILMS, best) == found


def test_the_noun_before_a_name_is_no_name_beside_it(tmp_path: Path) -> None:
    """*Film* stands for the type movie here, though a tag is called so; no movie with that tag is Omega."""
    graph = graph_of(
        (("movie", "Omega"), ("movie", "Sigma"), ("tag", "film"), ("genre", "drama"), ("genre", "comedy")),
        (("Omega", "HAS_GENRE", "drama"), ("Sigma", "HAS_GENRE", "comedy"), ("Sigma", "HAS_TAGS", "film")),
    )
    best = planner_of(tmp_path, graph)(Question("what is the genre of the film Omega"), Limit())[0].plan
    assert answers(graph, best) == {"drama"}
