"""Follow-ups of every kind over the demo bases, with the plan or the answers that a reader of the data expects."""

from __future__ import annotations

import pytest

from search.domain.plan import Count, Filter, Plan
from tests.search.stages.plan.follow_up.demos import Demo, demo

COPD = ("Chronic obstructive pulmonary disease", "disease", "INDICATED_FOR", "in", "drug")
OSTERVIK = ("Ostervik", "brand", "HAS_BRAND", "in", "product")
SEA_ICE = ("Sea ice", "field_of_study", "HAS_TOPIC", "in", "paper")
ICE = {
    "electromagnetic": "Airborne electromagnetic sounding of landfast ice in narrow fjords",
    "ponds": "Melt ponds as a source of bias in radar altimetry of drifting floes",
    "buoys": "Twelve buoys and two winters: growth of first-year floes under heavy snow",
    "hunters": "Unsafe ice: a hunters' calendar for a changing bay",
    "crawler": "A crawler that measures snow depth on level ice",
}
"""The five papers about sea ice."""


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Demo]:
    return {name: demo(name, tmp_path_factory.mktemp(name)) for name in ("biomedical", "products", "papers")}


def best(base: Demo, before: tuple[str, ...], words: str) -> Plan:
    """Return the likeliest changed plan; it has to be likelier than a question of its own."""
    reading = base.read(base.one_hop(*before), words)  # type: ignore[arg-type]
    assert reading.anew < 0.5, reading
    return reading.plans[0].plan


@pytest.mark.parametrize(
    ("base", "before", "words", "anchors"),
    [
        ("biomedical", COPD, "and for asthma?", {"asthma"}),
        ("biomedical", COPD, "what about gout instead?", {"gout"}),
        ("biomedical", COPD, "And Crohn's disease?", {"Crohn's disease"}),
        ("products", OSTERVIK, "what about Maplethorn instead?", {"Maplethorn"}),
        ("products", OSTERVIK, "the same for Lyktvik", {"Lyktvik"}),
        ("products", OSTERVIK, "in Japan?", {"Japan"}),
        ("papers", SEA_ICE, "and about permafrost?", {"permafrost"}),
        ("papers", SEA_ICE, "How about glaciology?", {"glaciology"}),
        ("biomedical", COPD, "also for asthma", {COPD[0], "asthma"}),
        ("biomedical", COPD, "and which also treat asthma?", {COPD[0], "asthma"}),
        ("products", OSTERVIK, "only drinkware", {"Ostervik", "drinkware"}),
        ("products", OSTERVIK, "designed by Ingunn Aas", {"Ostervik", "Ingunn Aas"}),
        ("products", OSTERVIK, "good for winter?", {"Ostervik", "winter"}),
        ("papers", SEA_ICE, "by Anna Kovalenka", {"Sea ice", "Anna Kovalenka"}),
        ("papers", SEA_ICE, "which of these were published in Polar Geophysics Letters?",
         {"Sea ice", "Polar Geophysics Letters"}),
    ],
)  # fmt: skip
def test_a_name_takes_the_place_of_one_or_is_a_further_condition(
    demos: dict[str, Demo], base: str, before: tuple[str, ...], words: str, anchors: set[str]
) -> None:
    plan = best(demos[base], before, words)
    assert {anchor.text for anchor in plan.anchors} == anchors
    assert plan.target.relevance_text == ""
    assert demos[base].answers(plan)


@pytest.mark.parametrize(
    ("base", "before", "words", "filters"),
    [
        ("papers", SEA_ICE, "only those after 2015", [Filter("T", "year", ">", 2015)]),
        ("papers", SEA_ICE, "since 2018", [Filter("T", "year", ">=", 2018)]),
        ("papers", SEA_ICE, "longer than 15 pages", [Filter("T", "pages", ">", 15)]),
        ("papers", SEA_ICE, "at least 20 pages", [Filter("T", "pages", ">=", 20)]),
        ("biomedical", COPD, "only those approved after 2000", [Filter("T", "approved", ">", 2000)]),
        ("biomedical", COPD, "not after 1990", [Filter("T", "approved", "<=", 1990)]),
        ("biomedical", COPD, "only tablets", [Filter("T", "forms", "=", "tablet")]),
        ("biomedical", COPD, "which of these are inhalers?", [Filter("T", "forms", "=", "inhaler")]),
        ("biomedical", COPD, "without steroids",
         [Filter("T", "drug_class", "exists"), Filter("T", "drug_class", "!=", "corticosteroid")]),
        ("products", OSTERVIK, "only those under 40 euros", [Filter("T", "price", "<", 40)]),
        ("products", OSTERVIK, "only those under 30", [Filter("T", "price", "<", 30)]),
        ("papers", SEA_ICE, "only those over 15", [Filter("T", "pages", ">", 15)]),
        ("products", OSTERVIK, "between 20 and 40 euros", [Filter("T", "price", "between", [20, 40])]),
        ("products", OSTERVIK, "lighter than 500 g", [Filter("T", "weight_g", "<", 500)]),
        ("products", OSTERVIK, "released in 2021",
         [Filter("T", "released", ">=", "2021"), Filter("T", "released", "<", "2022")]),
    ],
)  # fmt: skip
def test_a_number_or_a_value_is_a_filter_of_what_was_found(
    demos: dict[str, Demo], base: str, before: tuple[str, ...], words: str, filters: list[Filter]
) -> None:
    plan = best(demos[base], before, words)
    assert list(plan.filters) == filters
    assert [anchor.text for anchor in plan.anchors] == [before[0]]
    assert plan.target.relevance_text == ""


def test_a_number_is_denied(demos: dict[str, Demo]) -> None:
    papers = demos["papers"]
    assert papers.answers(best(papers, SEA_ICE, "not since 2018")) == sorted([ICE["electromagnetic"], ICE["ponds"]])


@pytest.mark.parametrize(
    ("base", "before", "words", "gone"),
    [
        ("papers", SEA_ICE, "not by Ingrid Solheim", {ICE["electromagnetic"], ICE["buoys"], ICE["hunters"]}),
        ("biomedical", COPD, "not Prednisolone", {"Prednisolone"}),
        ("products", OSTERVIK, "not the Barneflaske", {"Barneflaske"}),
        ("products", OSTERVIK, "except Suppe Food Jar", {"Suppe Food Jar"}),
        ("products", OSTERVIK, "without Ingunn Aas", {"Isvidde Flask 0.5 L", "Isvidde Flask 1 L"}),
    ],
)
def test_a_turned_name_takes_answers_away(
    demos: dict[str, Demo], base: str, before: tuple[str, ...], words: str, gone: set[str]
) -> None:
    own = demos[base]
    plan = best(own, before, words)
    assert len(plan.exclude) == 1
    assert set(own.answers(own.one_hop(*before))) - set(own.answers(plan)) == gone  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("words", "excluded", "kept"),
    [
        ("not designed by Ingunn Aas sold at Fjordgata 12", {"Ingunn Aas"}, {"Ostervik", "Fjordgata 12"}),
        ("not designed by Ingunn Aas or Jarl Wennerholt", {"Ingunn Aas", "Jarl Wennerholt"}, {"Ostervik"}),
    ],
)
def test_only_the_names_that_belong_together_are_turned(
    demos: dict[str, Demo], words: str, excluded: set[str], kept: set[str]
) -> None:
    """A scope ends behind its first name unless a comma, *and* or *or* joins the next one to it."""
    plan = best(demos["products"], OSTERVIK, words)
    assert {name for pattern in plan.exclude for one in pattern.anchors for name in one.text.split(", ")} == excluded
    assert {anchor.text for anchor in plan.anchors} == kept


def test_the_name_of_the_question_before_is_turned_round(demos: dict[str, Demo]) -> None:
    plan = best(demos["products"], OSTERVIK, "not Ostervik")
    assert (plan.anchors, [pattern.anchors[0].text for pattern in plan.exclude]) == ((), ["Ostervik"])
    found = demos["products"].answers(plan)
    assert "Godwit 2 Tent" in found
    assert "Barneflaske" not in found


@pytest.mark.parametrize(
    ("base", "before", "words", "order", "first"),
    [
        ("products", OSTERVIK, "the cheapest", ("price", "asc", 1), ["Barneflaske"]),
        ("products", OSTERVIK, "the two most expensive", ("price", "desc", 2), ["Isvidde Flask 1 L"]),
        ("products", OSTERVIK, "the best rated", ("rating", "desc", 1), ["Isvidde Flask 0.5 L"]),
        ("products", OSTERVIK, "sorted by price", ("price", "asc", None), ["Barneflaske"]),
        ("products", OSTERVIK, "sorted by rating", ("rating", "desc", None), ["Isvidde Flask 0.5 L"]),
        ("papers", SEA_ICE, "sorted by year", ("year", "asc", None), [ICE["electromagnetic"]]),
        ("papers", SEA_ICE, "order them by year, newest first", ("year", "desc", None), [ICE["hunters"]]),
        ("papers", SEA_ICE, "the longest", ("pages", "desc", 1), [ICE["buoys"]]),
        ("papers", SEA_ICE, "the most cited", (Count("CITES", "in", "paper"), "desc", 1), [ICE["electromagnetic"]]),
        ("biomedical", COPD, "the newest", ("approved", "desc", 1), ["Tiotropium"]),
        ("biomedical", COPD, "sorted by half-life", ("half_life_hours", "asc", None), ["Budesonide"]),
    ],
)
def test_an_order_is_added(
    demos: dict[str, Demo], base: str, before: tuple[str, ...], words: str, order: tuple[object, ...], first: list[str]
) -> None:
    plan = best(demos[base], before, words)
    assert plan.order is not None
    assert (plan.order.by, plan.order.direction, plan.order.limit) == order
    assert demos[base].answers(plan)[:1] == first


@pytest.mark.parametrize("words", ["how many?", "How many are there?", "count them", "and how many?"])
def test_the_number_is_asked(demos: dict[str, Demo], words: str) -> None:
    plan = best(demos["papers"], SEA_ICE, words)
    assert (plan.ask, demos["papers"].answers(plan)) == ("how many", sorted(ICE.values()))


def test_whether_there_is_any_keeps_every_condition_also_if_the_answer_is_no(demos: dict[str, Demo]) -> None:
    plan = best(demos["products"], OSTERVIK, "are there any in navy?")
    assert (plan.ask, {anchor.text for anchor in plan.anchors}) == ("whether", {"Ostervik", "navy"})
    assert demos["products"].answers(plan) == []


@pytest.mark.parametrize(
    ("base", "before", "words", "answers"),
    [
        ("products", OSTERVIK, "who designed them?", ["Ingunn Aas", "Mirela Kostova"]),
        ("products", OSTERVIK, "where are they sold?",
         ["Fjordgata 12", "Grachtenhuis", "Harbour Street Shop", "Mill Lane Outlet", "Tannery Yard"]),
        ("papers", SEA_ICE, "which datasets do they use?", ["ArcBuoy-12", "FjordIce"]),
        ("papers", SEA_ICE, "which journals?",
         ["Annals of Ice and Snow", "Journal of Cryosphere Dynamics", "Polar Geophysics Letters"]),
        ("biomedical", COPD, "which genes do they act on?", ["ADRB2", "CHRM3", "NR3C1"]),
    ],
)  # fmt: skip
def test_something_else_is_asked_of_what_was_found(
    demos: dict[str, Demo], base: str, before: tuple[str, ...], words: str, answers: list[str]
) -> None:
    plan = best(demos[base], before, words)
    assert demos[base].answers(plan) == answers
    assert before[0] in {anchor.text for anchor in plan.anchors}


def test_who_wrote_them_has_all_authors_of_the_papers_before(demos: dict[str, Demo]) -> None:
    papers = demos["papers"]
    ids = {node.key for node in papers.graph.nodes if node.name in ICE.values()}
    authors = {s for s, relation, t in papers.graph.edges if relation == "WRITES" and t in ids}
    names = sorted(papers.graph.nodes[key].name for key in authors)
    assert papers.answers(best(papers, SEA_ICE, "who wrote them?")) == names
    assert papers.answers(best(papers, SEA_ICE, "their authors")) == names


@pytest.mark.parametrize(("words", "way"), [("what do they cite?", "out"), ("what cites them?", "in")])
def test_the_place_of_the_pronoun_says_the_direction_of_a_relation_within_a_type(
    demos: dict[str, Demo], words: str, way: str
) -> None:
    papers = demos["papers"]
    ids = {node.key for node in papers.graph.nodes if node.name in ICE.values()}
    pairs = [(s, t) if way == "out" else (t, s) for s, relation, t in papers.graph.edges if relation == "CITES"]
    wanted = sorted({papers.graph.nodes[far].name for near, far in pairs if near in ids})
    assert papers.answers(best(papers, SEA_ICE, words)) == wanted


def test_a_comparison_with_another_node_is_a_filter(demos: dict[str, Demo]) -> None:
    plan = best(demos["products"], OSTERVIK, "cheaper than the Isvidde Flask 1 L")
    [condition] = plan.filters
    assert (condition.field, condition.op, condition.compared is not None) == ("price", "<", True)
    assert {anchor.text for anchor in plan.anchors} == {"Ostervik", "Isvidde Flask 1 L"}


def test_the_only_condition_is_taken_back(demos: dict[str, Demo]) -> None:
    products = demos["products"]
    before = best(products, OSTERVIK, "only those under 40 euros")
    plan = products.read(before, "regardless of the price").plans[0].plan
    assert (plan.filters, [anchor.text for anchor in plan.anchors]) == ((), ["Ostervik"])


@pytest.mark.parametrize(
    "words",
    ["Which drugs treat gout?", "Who wrote Thaw?", "which brands are based in Norway?", "Which stores are in Germany?"],
)
def test_a_whole_question_is_asked_anew(demos: dict[str, Demo], words: str) -> None:
    base, before = (
        ("biomedical", COPD) if "drugs" in words else ("papers", SEA_ICE) if "Thaw" in words else ("products", OSTERVIK)
    )
    reading = demos[base].read(demos[base].one_hop(*before), words)  # type: ignore[arg-type]
    assert reading.anew >= 0.5
    assert reading.wording == words


def test_the_answers_of_an_order_that_keeps_some_are_what_a_further_question_is_about(demos: dict[str, Demo]) -> None:
    products = demos["products"]
    heaviest = best(products, ("Tarnhollow", "brand", "HAS_BRAND", "in", "product"), "the heaviest")
    assert products.answers(heaviest) == ["Godwit 4 Family Tent"]
    plan = products.read(heaviest, "who designed it?").plans[0].plan
    assert products.answers(plan) == ["Dafydd Prosser"]
    assert plan.order is None


def test_words_that_change_nothing_order_the_answers_by_text(demos: dict[str, Demo]) -> None:
    papers = demos["papers"]
    reading = papers.read(papers.one_hop(*SEA_ICE), "something with helicopters")  # type: ignore[arg-type]
    plan = reading.plans[0].plan
    assert ([anchor.text for anchor in plan.anchors], plan.target.relevance_text) == (["Sea ice"], "helicopters")
    assert "helicopters" in reading.detail


def test_a_condition_of_a_neighbour_is_a_further_one(demos: dict[str, Demo]) -> None:
    papers = demos["papers"]
    plan = best(papers, SEA_ICE, "only from journals")
    assert plan.target.labels == ("paper",)
    assert [(one.field, one.value) for one in plan.filters] == [("kind", "journal")]


def test_nothing_is_counted_and_no_yes_is_said_where_words_are_left_over(demos: dict[str, Demo]) -> None:
    products = demos["products"]
    for words in ("are there any for wizards?", "how many are enchanted?"):
        reading = products.read(products.one_hop(*OSTERVIK), words)  # type: ignore[arg-type]
        assert reading.plans[0].plan.ask == "which"
        assert "Not understood" in reading.detail


def test_what_must_not_be_is_not_looked_for_in_texts(demos: dict[str, Demo]) -> None:
    products = demos["products"]
    reading = products.read(products.one_hop(*OSTERVIK), "without wizardry")  # type: ignore[arg-type]
    assert reading.plans[0].plan.target.relevance_text == ""
    assert reading.plans[0].plan.risk_level in ("no_trade", "weak")
    assert "wizardry" in reading.detail
    assert "wizardry" not in reading.wording


def test_text_retrieval_reads_the_question_before_with_the_new_name(demos: dict[str, Demo]) -> None:
    base = demos["biomedical"]
    before = base.one_hop(*COPD)  # type: ignore[arg-type]
    wording = f"Which drugs treat {COPD[0]}?"
    assert base.read(before, "and for asthma?", wording).wording == "Which drugs treat asthma?"
    assert base.read(before, "not Prednisolone", wording).wording == wording


def test_the_probabilities_of_the_changed_plans_sum_to_one(demos: dict[str, Demo]) -> None:
    papers = demos["papers"]
    for words in ("in Japan?", "what do they cite?", "and about permafrost?"):
        plans = papers.read(papers.one_hop(*SEA_ICE), words).plans  # type: ignore[arg-type]
        assert sum(one.probability for one in plans) == pytest.approx(1.0)
        assert all(one.source == "follow-up" for one in plans)


@pytest.mark.parametrize("words", ["?", "…", "not " * 500, "and " * 300, "x" * 2_000, "كم عددها 2015؟", "‮not‬ 7 7 7"])
def test_any_words_are_read_in_little_time(demos: dict[str, Demo], words: str) -> None:
    papers = demos["papers"]
    reading = papers.read(papers.one_hop(*SEA_ICE), words)  # type: ignore[arg-type]
    assert reading.words == words


@pytest.mark.parametrize(
    ("words", "anchors"),
    [("und für Asthma?", {"asthma"}), ("et pour l'asthme ?", {"asthma"}), ("¿y para el asma?", {"asthma"})],
)
def test_a_follow_up_in_another_language_changes_the_same(
    demos: dict[str, Demo], words: str, anchors: set[str]
) -> None:
    plan = best(demos["biomedical"], COPD, words)
    assert {anchor.text.casefold() for anchor in plan.anchors} == anchors


@pytest.mark.parametrize("words", ["wie viele?", "combien ?", "¿cuántos?"])
def test_the_number_is_asked_in_another_language(demos: dict[str, Demo], words: str) -> None:
    assert best(demos["papers"], SEA_ICE, words).ask == "how many"
