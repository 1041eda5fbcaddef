"""Choices, yes or no of a property, and names beside the noun of their kind; what is right is read in the demo data."""

from __future__ import annotations

import pytest

from tests.search.stages.plan.demo_planners import PlannedDemo, planned


@pytest.fixture(scope="module")
def demos(tmp_path_factory: pytest.TempPathFactory) -> dict[str, PlannedDemo]:
    return {name: planned(name, tmp_path_factory.mktemp(name)) for name in ("biomedical", "products", "papers")}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("brands based in ireland or portugal", ["O'Marra's", "Pedravento"]),
        ("which brands are based in Ireland or in Portugal", ["O'Marra's", "Pedravento"]),
        ("brands based in Japan, Ireland or Portugal", ["Hoshimori Works", "O'Marra's", "Pedravento"]),
        # What belongs to both is still asked for with *and*.
        ("brands based in Ireland and Portugal", []),
    ],
)
def test_names_joined_by_or_mean_any_of_them(demos: dict[str, PlannedDemo], text: str, names: list[str]) -> None:
    best = demos["products"].best(text)
    assert (demos["products"].demo.answers(best.plan), best.plan.target.relevance_text) == (names, "")


def test_a_list_that_or_joins_ends_with_the_name_behind_it(demos: dict[str, PlannedDemo]) -> None:
    names = demos["products"].planner.proposer.read("things in red or navy, made of cork, oak or linen").names
    assert [name.mention.text for name in names] == ["red or navy", "cork, oak or linen"]
    assert [len(name.mention.keys) for name in names] == [2, 3]


def test_names_without_a_type_in_common_stay_apart(demos: dict[str, PlannedDemo]) -> None:
    names = demos["products"].planner.proposer.read("things in navy or by Ostervik").names
    assert [name.mention.text for name in names] == ["navy", "Ostervik"]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        # 2,180 and 5,900 grams; 18 and 42 euros; founded in 1968 and 1989.
        ("which is heavier, the Godwit 2 Tent or the Godwit 4 Family Tent?", "Godwit 4 Family Tent"),
        ("which is cheaper, Fell Socks or Hearth Socks", "Fell Socks"),
        ("who is older, Tarnhollow or Ostervik", "Tarnhollow"),
        # Seven products and six.
        ("who made more products, Tarnhollow or Ostervik", "Tarnhollow"),
        ("which brand has fewer products, Tarnhollow or Ostervik", "Ostervik"),
    ],
)
def test_a_choice_between_named_things_is_answered_by_one_of_them(
    demos: dict[str, PlannedDemo], text: str, name: str
) -> None:
    best = demos["products"].best(text)
    assert (demos["products"].demo.answers(best.plan)[:1], best.plan.target.relevance_text) == ([name], "")


@pytest.mark.parametrize(
    ("text", "yes"),
    [
        ("is the Godwit 4 Family Tent heavier than the Godwit 2 Tent", True),
        ("does Tarnhollow have more than 5 products", True),
        ("does Tarnhollow have more than 10 products", False),
        ("was Tarnhollow founded before 1970", True),
        # It costs 429, and its own number is no limit.
        ("is the Wolke 7 under 500 euros", True),
        ("is the Wolke 7 under 400 euros", False),
    ],
)
def test_yes_or_no_of_a_property_is_asked_of_the_named_thing_itself(
    demos: dict[str, PlannedDemo], text: str, yes: bool
) -> None:
    plan = demos["products"].best(text).plan
    assert (plan.ask, plan.hops, plan.target.relevance_text) == ("whether", (), "")
    assert bool(demos["products"].demo.answers(plan)) == yes


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("does metformin treat diabetes", "Type 2 diabetes mellitus"),
        ("does erlotinib treat lung cancer", "Non-small cell lung cancer"),
        # From *cough* no walk leads to the drug.
        ("can lisinopril cause cough", "Dry cough"),
    ],
)
def test_what_is_said_of_a_kind_of_the_named_thing_is_no_sure_no(
    demos: dict[str, PlannedDemo], text: str, kind: str
) -> None:
    best = demos["biomedical"].best(text)
    assert (best.plan.ask, demos["biomedical"].demo.answers(best.plan)) == ("whether", [kind])
    assert best.probability <= 0.5


def test_what_is_said_of_no_kind_stays_no(demos: dict[str, PlannedDemo]) -> None:
    best = demos["biomedical"].best("does metformin treat asthma")
    assert (best.plan.ask, demos["biomedical"].demo.answers(best.plan)) == ("whether", [])
    assert best.probability >= 0.7


@pytest.mark.parametrize(
    "text", ["what meds shouldnt i take if i have kidney failure", "drugs that shouldnt be taken with kidney failure"]
)
def test_a_contraction_turns_without_its_apostrophe_too(demos: dict[str, PlannedDemo], text: str) -> None:
    with_mark = demos["biomedical"].answers(text.replace("shouldnt", "shouldn't"))
    assert demos["biomedical"].answers(text) == with_mark
    assert len(with_mark) == 9


def test_a_value_before_a_noun_describes_it_though_it_may_name_another_type(demos: dict[str, PlannedDemo]) -> None:
    papers = demos["papers"]
    assert papers.answers("which conference papers came out in 2019") == [
        "AskLedger: spoken questions to a household assistant", "Climbing stairs blind",
    ]  # fmt: skip
    assert papers.best("which conference papers came out in 2019").plan.target.labels == ("paper",)


@pytest.mark.parametrize("text", ["the Moosbett Mat product", "Vicarage Bench product"])
def test_a_name_beside_the_noun_of_its_type_asks_for_what_it_names(demos: dict[str, PlannedDemo], text: str) -> None:
    best = demos["products"].best(text)
    assert (best.plan.hops, len(demos["products"].demo.answers(best.plan))) == ((), 1)


def test_a_walk_with_a_hop_that_no_word_says_is_never_sure(demos: dict[str, PlannedDemo]) -> None:
    # The products of Japanese brands are sold in some stores; none is said to be in Japan.
    best = demos["products"].best("are there stores in Japan")
    assert len(best.plan.hops) != 3 or best.probability <= 0.7


def test_what_is_counted_says_one_hop_from_the_named_thing_and_no_further_one(demos: dict[str, PlannedDemo]) -> None:
    # Whether the papers or their authors are in Norway, and how, the question does not say.
    doubtful = demos["papers"].best("papers with at least 3 authors in Norway")
    assert doubtful.plan.filters[0].count is not None
    assert doubtful.probability <= 0.7
    assert demos["products"].best("brands with at least two products made of oak").probability > 0.7


def test_what_a_text_is_not_about_has_nothing_to_do_with_where_it_is(demos: dict[str, PlannedDemo]) -> None:
    # Seven papers appeared in the Journal of Dexterous Machines; which of them are about robots, texts alone can say.
    best = demos["papers"].best("papers not about robots in jdm")
    assert ([hop.rel for hop in best.plan.hops], len(demos["papers"].demo.answers(best.plan))) == (["PUBLISHED_IN"], 7)
    assert best.probability <= 0.45


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("tents w/o aluminium", "tents without aluminium"),
        ("sth made of cork", "something made of cork"),
        ("things w/oak", "things with oak"),
        ("the w/o sign in 24w/7", "the without sign in 24w/7"),
    ],
)
def test_short_forms_of_typing_are_read_as_what_they_stand_for(
    demos: dict[str, PlannedDemo], text: str, meant: str
) -> None:
    assert demos["products"].planner.proposer.read(text).text.split() == meant.split()


def test_without_a_thing_is_without_its_kinds_too(demos: dict[str, PlannedDemo]) -> None:
    names = demos["biomedical"].answers("drugs without cough as side effect")
    # Lisinopril has the dry cough as a side effect, and no other cough.
    assert ("Lisinopril" in names, "Warfarin" in names) == (False, True)
