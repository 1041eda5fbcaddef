"""Questions over bases in German, French and Spanish, read by the grammar; the answers are worked out by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest

from search.domain.graph import Field, Node, Relation
from search.stages.plan import Planner
from tests.graphs import schema_of
from tests.oracle import Graph
from tests.search.stages.plan.films import planner_of
from tests.search.stages.plan.grammar_planners import best, by_grammar, found

TYPES = {
    "de": ("Land", "Stadt", "Fluss", "Einwohner"),
    "fr": ("région", "ville", "rivière", "population"),
    "es": ("región", "ciudad", "río", "población"),
}
RELATIONS = {
    "de": (
        Relation("LIEGT_IN", "liegt in", "hat die Stadt"), Relation("FLIESST_DURCH", "fließt durch", "hat den Fluss"),
        Relation("HAUPTSTADT", "hat die Hauptstadt", "ist die Hauptstadt von"),
    ),
    "fr": (
        Relation("SITUEE_DANS", "est située dans", "a la ville"), Relation("TRAVERSE", "traverse", "a la rivière"),
        Relation("CAPITALE", "a la capitale", "est la capitale de"),
    ),
    "es": (
        Relation("SITUADA_EN", "está situada en", "tiene la ciudad"), Relation("CRUZA", "cruza", "tiene el río"),
        Relation("CAPITAL", "tiene la capital", "es la capital de"),
    ),
}  # fmt: skip
PLACES = (("Arvonia", 100), ("Belmora", 300), ("Corvia", 200))
CITIES = (("Astead", 0, 10), ("Bexley", 1, 90), ("Cranford", 2, 60), ("Czerny", 2, 5))
RIVERS = (("Lorne", (0, 1)), ("Medwin", (1,)))


def graph_in(code: str) -> Graph:
    """Return the base with the names of types, fields and relations in a language."""
    place, city, river, people = TYPES[code]
    rows = [
        *((place, name, {people: number}) for name, number in PLACES),
        *((city, name, {people: number}) for name, _, number in CITIES),
        *((river, name, {}) for name, _ in RIVERS),
    ]
    nodes = tuple(Node(key, f"n{key}", kind, name, fields=fields) for key, (kind, name, fields) in enumerate(rows))
    located, flows, capital = (one.name for one in RELATIONS[code])
    key_of = {node.name: node.key for node in nodes}
    edges = [(key_of[name], located, at) for name, at, _ in CITIES]
    edges += [(key_of[name], flows, at) for name, several in RIVERS for at in several]
    edges += [(0, capital, key_of["Astead"]), (1, capital, key_of["Bexley"]), (2, capital, key_of["Cranford"])]
    return Graph(nodes, tuple(edges))


@pytest.fixture(scope="module")
def planners(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Planner, Graph]]:
    made = {}
    for code in TYPES:
        graph, people = graph_in(code), TYPES[code][3]
        plain = schema_of(graph)
        fields = (Field(people, "number", coverage=3),)
        kinds = tuple(replace(one, fields=fields if one.fields else ()) for one in plain.node_types)
        by_name = {one.name: one for one in RELATIONS[code]}
        schema = replace(
            plain, node_types=kinds, relations=tuple(by_name[one.name] for one in plain.relations), language=code
        )
        folder = tmp_path_factory.mktemp(code)
        made[code] = by_grammar(planner_of(folder, graph, schema), folder, graph), graph
    return made


@pytest.mark.parametrize(
    ("code", "text", "names"),
    [
        ("de", "Städte in Corvia", {"Cranford", "Czerny"}),
        ("de", "welche Flüsse fließen durch Arvonia", {"Lorne"}),
        ("de", "was ist die Hauptstadt von Belmora", {"Bexley"}),
        ("de", "Flüsse, die nicht durch Arvonia fließen", {"Medwin"}),
        ("de", "Länder ohne Fluss", {"Corvia"}),
        ("de", "Städte in Arvonia oder Belmora", {"Astead", "Bexley"}),
        ("fr", "les villes situées dans Corvia", {"Cranford", "Czerny"}),
        ("fr", "quelles rivières traversent Arvonia", {"Lorne"}),
        ("fr", "la capitale de Belmora", {"Bexley"}),
        ("fr", "les rivières qui ne traversent pas Arvonia", {"Medwin"}),
        ("fr", "les régions sans rivière", {"Corvia"}),
        ("fr", "les villes situées dans Arvonia ou Belmora", {"Astead", "Bexley"}),
        ("es", "ciudades situadas en Corvia", {"Cranford", "Czerny"}),
        ("es", "qué ríos cruzan Arvonia", {"Lorne"}),
        ("es", "la capital de Belmora", {"Bexley"}),
        ("es", "ríos que no cruzan Arvonia", {"Medwin"}),
        ("es", "regiones sin río", {"Corvia"}),
        ("es", "ciudades situadas en Arvonia o Belmora", {"Astead", "Bexley"}),
    ],
)
def test_a_question_in_the_language_of_the_base_is_read(
    planners: dict[str, tuple[Planner, Graph]], code: str, text: str, names: set[str]
) -> None:
    assert found(*planners[code], text) == names


@pytest.mark.parametrize(
    ("code", "text", "ask", "limit"),
    [
        ("de", "wie viele Städte liegen in Corvia", "how many", None),
        ("de", "welches Land hat die meisten Städte", "which", 1),
        ("fr", "combien de villes sont situées dans Corvia", "how many", None),
        ("fr", "quelle région a le plus de villes", "which", 1),
        ("es", "cuántas ciudades hay en Corvia", "how many", None),
        ("es", "qué región tiene más ciudades", "which", 1),
    ],
)
def test_numbers_and_orders_are_asked_in_the_language_of_the_base(
    planners: dict[str, tuple[Planner, Graph]], code: str, text: str, ask: str, limit: int | None
) -> None:
    plan = best(planners[code][0], text)
    assert plan.ask == ask
    assert (plan.order.limit if plan.order else None) == limit
