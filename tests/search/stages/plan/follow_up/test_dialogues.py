"""Threads of questions, each read against the plan of the one before; what they find is worked out by hand."""

from __future__ import annotations

from dataclasses import dataclass, replace

import pytest

from search.domain.plan import Anchor, Filter, Hop, Plan, Target
from search.domain.trace import Limit
from tests.search.stages.plan.follow_up.demos import Demo, demo, land

FIRST = {
    "COPD": ("biomedical", ("Chronic obstructive pulmonary disease", "disease", "INDICATED_FOR", "in", "drug")),
    "Ostervik": ("products", ("Ostervik", "brand", "HAS_BRAND", "in", "product")),
    "sea ice": ("papers", ("Sea ice", "field_of_study", "HAS_TOPIC", "in", "paper")),
    "cities in Corvia": ("land", ("Corvia", "state", "LOCATED_IN", "in", "city")),
    "rivers in Corvia": ("land", ("Corvia", "state", "FLOWS_THROUGH", "in", "river")),
    "neighbours of Belmora": ("land", ("Belmora", "state", "BORDERS", None, "state")),
    "asthma": ("biomedical", ("Asthma", "disease", "INDICATED_FOR", "in", "drug")),
    "Lyktvik": ("products", ("Lyktvik", "brand", "HAS_BRAND", "in", "product")),
    "Maplethorn": ("products", ("Maplethorn", "brand", "HAS_BRAND", "in", "product")),
    "permafrost": ("papers", ("Permafrost", "field_of_study", "HAS_TOPIC", "in", "paper")),
    "rivers of Belmora": ("land", ("Belmora", "state", "FLOWS_THROUGH", "in", "river")),
    "cities in Arvonia": ("land", ("Arvonia", "state", "LOCATED_IN", "in", "city")),
    "neighbours of Corvia": ("land", ("Corvia", "state", "BORDERS", None, "state")),
}
"""The plans that threads begin with: base, name, its type, relation, its direction, and the type that it finds."""


@dataclass(frozen=True)
class Step:
    """Words with the names that they ask for; `ask` and `show` are what is asked of these."""

    words: str
    found: tuple[str, ...]
    ask: str = "which"
    show: str = ""
    anew: bool = False


def step(words: str, *found: str, ask: str = "which", show: str = "", anew: bool = False) -> Step:
    return Step(words, found, ask, show, anew)


OSTERVIK = (
    "Barneflaske", "Isvidde Flask 0.5 L", "Isvidde Flask 1 L", "Kaffekopp Travel Mug", "Suppe Food Jar",
    "Tepause Infuser Bottle",
)  # fmt: skip
MELT = "Melt ponds as a source of bias in radar altimetry of drifting floes"
SOUNDING = "Airborne electromagnetic sounding of landfast ice in narrow fjords"
BUOYS = "Twelve buoys and two winters: growth of first-year floes under heavy snow"
HUNTERS = "Unsafe ice: a hunters' calendar for a changing bay"
CRAWLER = "A crawler that measures snow depth on level ice"

THREADS: list[tuple[str, list[Step]]] = [
    (
        "cities in Corvia",
        [
            step("and in Arvonia?", "Astead", "Aymouth"),
            step("how many?", "Astead", "Aymouth", ask="how many"),
            step("only those with a population over 20", "Aymouth"),
            step("what about Belmora?", "Bexley"),
        ],
    ),
    (
        "cities in Corvia",
        [
            step("the largest", "Cranford"),
            step("what is its population?", "Cranford", show="population"),
        ],
    ),
    (
        "cities in Corvia",
        [
            step("sorted by population", "Czerny", "Cypress Falls", "Cranford"),
            step("without Czerny", "Cypress Falls", "Cranford"),
            step("the two largest", "Cranford", "Cypress Falls"),
        ],
    ),
    (
        "cities in Corvia",
        [
            step("the smallest", "Czerny"),
            step("and in Arvonia?", "Astead"),
            step("show all", "Astead", "Aymouth"),
        ],
    ),
    ("rivers in Corvia", [step("longer than 500", "Lorne"), step("regardless of the length", "Lorne", "Sheaf")]),
    ("rivers in Corvia", [step("not the Lorne", "Sheaf"), step("how long is it?", "Sheaf", show="length")]),
    (
        "rivers in Corvia",
        [
            step("are there any longer than 1000?", ask="whether"),
            step("and longer than 800?", "Lorne", ask="whether"),
        ],
    ),
    ("rivers in Corvia", [step("which states border Arvonia?", "Belmora", anew=True)]),
    ("rivers in Corvia", [step("how many cities are in Arvonia?", "Astead", "Aymouth", ask="how many", anew=True)]),
    (
        "neighbours of Belmora",
        [
            step("which rivers flow through them?", "Lorne", "Sheaf"),
            step("the longest", "Lorne"),
        ],
    ),
    (
        "neighbours of Belmora",
        [
            step("only those with more than 2 cities", "Corvia"),
            step("their capitals", "Cranford"),
        ],
    ),
    (
        "neighbours of Belmora",
        [
            step("what are their capitals?", "Aymouth", "Cranford"),
            step("with a population over 50", "Cranford"),
            step("how many people live there?", "Cranford", show="population"),
        ],
    ),
    (
        "neighbours of Belmora",
        [
            step("and Corvia?", "Belmora", "Dalmora"),
            step("not Dalmora", "Belmora"),
            step("what is the area of these?", "Belmora", show="area"),
        ],
    ),
    ("neighbours of Belmora", [step("the ones without rivers")]),
    ("neighbours of Belmora", [step("which has the most cities?", "Corvia"), step("and the fewest?", "Arvonia")]),
    (
        "neighbours of Belmora",
        [step("what is their average population?", "Arvonia", "Corvia", ask="mean", show="population")],
    ),
    (
        "COPD",
        [
            step(
                "and for asthma?",
                "Budesonide",
                "Formoterol",
                "Montelukast",
                "Omalizumab",
                "Prednisolone",
                "Salbutamol",
                "Salmeterol",
                "Tiotropium",
            ),
            step("only tablets", "Montelukast", "Prednisolone", "Salbutamol"),
            step("which genes do they act on?", "ADRB2", "CYSLTR1", "NR3C1"),
            step("how many are there?", "ADRB2", "CYSLTR1", "NR3C1", ask="how many"),
        ],
    ),
    (
        "COPD",
        [
            step("approved after 1990", "Budesonide", "Formoterol", "Salmeterol", "Tiotropium"),
            step("which of them may cause tremor?", "Formoterol", "Salmeterol"),
        ],
    ),
    (
        "COPD",
        [
            step("what about gout?", "Allopurinol", "Colchicine", "Ibuprofen"),
            step("the newest", "Ibuprofen"),
            step("when was it approved?", "Ibuprofen", show="approved"),
        ],
    ),
    (
        "COPD",
        [
            step("not corticosteroids", "Formoterol", "Salbutamol", "Salmeterol", "Tiotropium"),
            step("without tremor", "Tiotropium"),
        ],
    ),
    (
        "Ostervik",
        [
            step("the cheapest", "Barneflaske"),
            step("where is it sold?", "Fjordgata 12", "Harbour Street Shop", "Mill Lane Outlet"),
        ],
    ),
    (
        "Ostervik",
        [
            step(
                "under 30 euros", "Barneflaske", "Isvidde Flask 0.5 L", "Kaffekopp Travel Mug", "Tepause Infuser Bottle"
            ),
            step("made of bamboo", "Tepause Infuser Bottle"),
            step("and natural rubber?", "Barneflaske", "Kaffekopp Travel Mug"),
            step("any price", "Barneflaske", "Kaffekopp Travel Mug"),
        ],
    ),
    (
        "Ostervik",
        [
            step(
                "what about Lyktvik instead?",
                "Bål Candle Lantern",
                "Fyr Tent Light",
                "Nattsti 400",
                "Nattsti 900",
                "Vardø Lantern",
            ),
            step("who designed them?", "Jarl Wennerholt"),
            step("where was he born?", "Sweden"),
        ],
    ),
    (
        "Ostervik",
        [
            step(
                "sorted by price, highest first",
                "Isvidde Flask 1 L",
                "Suppe Food Jar",
                "Isvidde Flask 0.5 L",
                "Tepause Infuser Bottle",
                "Kaffekopp Travel Mug",
                "Barneflaske",
            ),
            step("only the black ones", "Isvidde Flask 1 L", "Isvidde Flask 0.5 L", "Kaffekopp Travel Mug"),
            step(
                "how much do they cost?",
                "Isvidde Flask 1 L",
                "Isvidde Flask 0.5 L",
                "Kaffekopp Travel Mug",
                show="price",
            ),
        ],
    ),
    (
        "sea ice",
        [
            step("since 2018", CRAWLER, BUOYS, HUNTERS),
            step(
                "who wrote them?",
                "Anna Kovalenka",
                "Aroha Te Whetūroa",
                "Ingrid Solheim",
                "Malu Petrussuaq",
                "Ole-Martin Bjerkestrøm",
                "Torvald Solheim",
            ),
            step(
                "where do they work?",
                "Brekka Technical University",
                "Nordfjell Polar Institute",
                "Tāwhirimoana University",
                "Uummarsuit Field Station",
            ),
        ],
    ),
    (
        "sea ice",
        [
            step("by Anna Kovalenka", CRAWLER, MELT, BUOYS),
            step("and by Ingrid Solheim?", SOUNDING, BUOYS, HUNTERS),
            step("the shortest one", HUNTERS),
        ],
    ),
    (
        "sea ice",
        [
            step("the longest", BUOYS),
            step("what does it cite?", SOUNDING, MELT),
            step("excluding the melt ponds one", SOUNDING),
        ],
    ),
    ("sea ice", [step("from 2017 to 2019", MELT, BUOYS), step("which datasets do they use?", "ArcBuoy-12")]),
    (
        "rivers of Belmora",
        [step("which is the shortest?", "Medwin"), step("what is its length?", "Medwin", show="length")],
    ),
    (
        "rivers of Belmora",
        [
            step("and those in Corvia?", "Lorne", "Sheaf"),
            step("how many of them are longer than 200?", "Lorne", ask="how many"),
        ],
    ),
    (
        "rivers of Belmora",
        [
            step("only the ones that also flow through Corvia", "Lorne"),
            step("through which states does it run?", "Arvonia"),
        ],
    ),
    (
        "rivers of Belmora",
        [step("order by length, longest first", "Lorne", "Medwin"), step("and for Corvia?", "Lorne", "Sheaf")],
    ),
    ("cities in Arvonia", [step("the biggest one", "Aymouth"), step("is it a capital?", "Aymouth", ask="whether")]),
    (
        "cities in Arvonia",
        [step("under 20 inhabitants", "Astead"), step("drop the population limit", "Astead", "Aymouth")],
    ),
    (
        "cities in Arvonia",
        [
            step("what is their total population?", "Astead", "Aymouth", ask="sum", show="population"),
            step("and in Corvia?", "Cranford", "Cypress Falls", "Czerny", ask="sum", show="population"),
        ],
    ),
    ("cities in Arvonia", [step("which rivers are longer than 400?", "Lorne", "Medwin", anew=True)]),
    ("neighbours of Corvia", [step("except Belmora", "Dalmora"), step("its area?", "Dalmora", show="area")]),
    ("neighbours of Corvia", [step("with a city", "Belmora"), step("which cities?", "Bexley")]),
    ("neighbours of Corvia", [step("the one with the larger area", "Belmora")]),
    ("asthma", [step("just the injections", "Omalizumab"), step("what are its side effects?", "Headache")]),
    (
        "asthma",
        [
            step("no inhalers please", "Montelukast", "Omalizumab", "Prednisolone"),
            step("from before 2000", "Montelukast", "Prednisolone"),
            step("which one is older?", "Prednisolone"),
        ],
    ),
    (
        "asthma",
        [
            step(
                "sort them by year of approval",
                "Prednisolone",
                "Salbutamol",
                "Salmeterol",
                "Budesonide",
                "Montelukast",
                "Formoterol",
                "Omalizumab",
                "Tiotropium",
            ),
            step(
                "newest first",
                "Tiotropium",
                "Omalizumab",
                "Formoterol",
                "Montelukast",
                "Budesonide",
                "Salmeterol",
                "Salbutamol",
                "Prednisolone",
            ),
        ],
    ),
    (
        "asthma",
        [
            step(
                "which of these are also used for COPD?",
                "Budesonide",
                "Formoterol",
                "Prednisolone",
                "Salbutamol",
                "Salmeterol",
                "Tiotropium",
            ),
            step("that may cause headache", "Salbutamol", "Salmeterol"),
        ],
    ),
    (
        "asthma",
        [
            step(
                "count them",
                "Budesonide",
                "Formoterol",
                "Montelukast",
                "Omalizumab",
                "Prednisolone",
                "Salbutamol",
                "Salmeterol",
                "Tiotropium",
                ask="how many",
            ),
            step("and for gout?", "Allopurinol", "Colchicine", "Ibuprofen", ask="how many"),
        ],
    ),
    (
        "COPD",
        [
            step(
                "what is the drug class of these?",
                "Budesonide",
                "Formoterol",
                "Prednisolone",
                "Salbutamol",
                "Salmeterol",
                "Tiotropium",
                show="drug_class",
            )
        ],
    ),
    (
        "Lyktvik",
        [
            step("lanterns only", "Bål Candle Lantern", "Fyr Tent Light", "Vardø Lantern"),
            step("the best rated", "Vardø Lantern"),
            step("who is the designer?", "Jarl Wennerholt"),
        ],
    ),
    (
        "Lyktvik",
        [
            step("cheaper than 60 euros", "Bål Candle Lantern", "Fyr Tent Light", "Nattsti 400"),
            step("cheaper than 30", "Fyr Tent Light"),
        ],
    ),
    (
        "Lyktvik",
        [
            step("without lanterns", "Nattsti 400", "Nattsti 900"),
            step("which colours do they come in?", "Black", "Mustard"),
        ],
    ),
    (
        "Maplethorn",
        [
            step(
                "not the red ones",
                "Bearpaw Snowshoes",
                "Loon Tail Paddle",
                "Old Jack Splitting Axe",
                "Voyageur Canoe Pack",
            ),
            step("the heaviest of them", "Voyageur Canoe Pack"),
        ],
    ),
    (
        "Maplethorn",
        [
            step("and Lyktvik?", "Bål Candle Lantern", "Fyr Tent Light", "Nattsti 400", "Nattsti 900", "Vardø Lantern"),
            step("over 100", "Nattsti 900"),
        ],
    ),
    (
        "Ostervik",
        [
            step("with a rating above 4.4", "Isvidde Flask 0.5 L", "Isvidde Flask 1 L", "Suppe Food Jar"),
            step("sold at Tannery Yard", "Isvidde Flask 0.5 L"),
            step("its price?", "Isvidde Flask 0.5 L", show="price"),
        ],
    ),
    (
        "Ostervik",
        [step("released after 2021", "Barneflaske", "Kaffekopp Travel Mug"), step("in mustard?", "Barneflaske")],
    ),
    (
        "permafrost",
        [
            step(
                "the two newest",
                "Frost quakes in a suburban winter",
                "Retrogressive slumps along an eroding Arctic coast",
            ),
            step("and the oldest?", "Ground temperatures at a mountain pass, 1978-1994"),
        ],
    ),
    (
        "permafrost",
        [
            step("at most 12 pages", "Frost quakes in a suburban winter", "Thaw"),
            step("no more than 10", "Frost quakes in a suburban winter"),
        ],
    ),
    ("permafrost", [step("or sea ice?", CRAWLER, SOUNDING, MELT, BUOYS, HUNTERS)]),
    (
        "sea ice",
        [
            step(
                "which authors wrote them?",
                "Anna Kovalenka",
                "Aroha Te Whetūroa",
                "Ingrid Solheim",
                "Maja Lindeqvist",
                "Malu Petrussuaq",
                "Ole-Martin Bjerkestrøm",
                "Torvald Solheim",
                "Étienne Ferrand-Roux",
            ),
            step("only those at Nordfjell Polar Institute", "Anna Kovalenka", "Ingrid Solheim", "Maja Lindeqvist"),
        ],
    ),
    ("sea ice", [step("that use FjordIce", SOUNDING, HUNTERS), step("and ArcBuoy-12?", CRAWLER, BUOYS)]),
]


@pytest.fixture(scope="module")
def bases(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Demo]:
    found = {name: demo(name, tmp_path_factory.mktemp(name)) for name in ("biomedical", "products", "papers")}
    return {**found, "land": land(tmp_path_factory.mktemp("land"))}


@pytest.mark.parametrize(("first", "steps"), THREADS, ids=[f"{first}: {steps[0].words}" for first, steps in THREADS])
def test_a_thread_finds_what_each_question_asks(bases: dict[str, Demo], first: str, steps: list[Step]) -> None:
    name, start = FIRST[first]
    base = bases[name]
    plan = base.one_hop(*start)
    for one in steps:
        plan = read(base, plan, one)


@pytest.mark.parametrize(
    ("question", "words", "ask", "show", "found"),
    [
        ("what is the population of Arvonia", "and of Belmora?", "which", "population", ["Belmora"]),
        ("what is the population of Arvonia", "and its area?", "which", "area", ["Arvonia"]),
        ("what is the population of Arvonia", "which states border it?", "which", "", ["Belmora"]),
        ("how many cities are in Corvia", "and in Arvonia?", "how many", "", ["Astead", "Aymouth"]),
        ("how many cities are in Corvia", "which ones?", "which", "", ["Cranford", "Cypress Falls", "Czerny"]),
        ("average population of the cities in Arvonia", "and in Corvia?", "mean", "population",
         ["Cranford", "Cypress Falls", "Czerny"]),
        ("is Astead in Arvonia", "and in Corvia?", "whether", "", []),
        ("what is the capital of the largest state", "its population?", "which", "population", ["Cranford"]),
        ("which state has the most rivers", "and the most cities?", "which", "", ["Corvia"]),
        ("which state has the most rivers", "which rivers?", "which", "", ["Lorne", "Medwin", "Sheaf"]),
        ("list the states", "without rivers", "which", "", ["Dalmora"]),
        ("cities in Arvonia or Belmora", "and Corvia?", "which", "", ["Cranford", "Cypress Falls", "Czerny"]),
        ("rivers longer than the Medwin", "in Corvia", "which", "", ["Lorne"]),
        ("states with more than 2 cities", "how many?", "how many", "", ["Corvia"]),
    ],
)  # fmt: skip
def test_what_a_question_asked_is_changed(
    bases: dict[str, Demo], question: str, words: str, ask: str, show: str, found: list[str]
) -> None:
    base = bases["land"]
    plan = base.read(base.stage.reader(question, Limit())[0].plan, words).plans[0].plan
    assert (base.answers(plan), plan.ask, plan.show) == (found, ask, show)


def test_an_order_of_the_question_before_chooses_first_where_something_else_is_asked(bases: dict[str, Demo]) -> None:
    base = bases["products"]
    cheapest = base.read(base.one_hop(*FIRST["Maplethorn"][1]), "the cheapest").plans[0].plan
    plan = base.read(cheapest, "who designed it?").plans[0].plan
    assert (plan.order, [anchor.plan for anchor in plan.anchors]) == (None, [replace(cheapest, risk_level="normal")])


def test_a_plan_written_by_others_keeps_its_variables(bases: dict[str, Demo]) -> None:
    base = bases["land"]
    before = Plan(
        (Anchor("somewhere", "Corvia"),), (Hop("somewhere", "LOCATED_IN", "town", "city"),), Target("town", ("city",))
    )
    assert base.read(before, "how many?").plans[0].plan == replace(before, ask="how many", risk_level="aggressive")
    larger = base.read(before, "with a population over 30").plans[0].plan
    assert (larger.anchors, larger.hops, larger.target) == (before.anchors, before.hops, before.target)
    assert list(larger.filters) == [Filter("town", "population", ">", 30)]


def read(base: Demo, before: Plan, one: Step) -> Plan:
    """Read one step against the plan before, check what it finds, and return its plan."""
    reading = base.read(before, one.words)
    assert (reading.anew >= 0.5) == one.anew, one.words
    if one.anew:
        return before
    plan = reading.plans[0].plan
    found = base.answers(plan)
    wanted = list(one.found) if plan.order is not None else sorted(one.found)
    assert (one.words, found, plan.ask, plan.show) == (one.words, wanted, one.ask, one.show)
    return plan
