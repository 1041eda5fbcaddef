"""Questions over a graph whose types have names of several words and whose relations join a type with itself."""

from __future__ import annotations

import pytest

from search.domain.graph import ANY
from search.domain.plan.parts import Count
from search.stages.plan import Planner
from tests.search.stages.plan.pathways import best, found, planner_in


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return planner_in(tmp_path_factory.mktemp("pathways"))


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("which disease groups are tied to the pathways of Ada Holm", {"bone disease", "disease of mental health"}),
        ("which disease group contains gout", {"bone disease"}),
        ("which diseases are tied to the pathways of Ada Holm", {"gout", "schizophrenia"}),
    ],
)
def test_a_type_named_by_several_words_is_what_is_asked_for(planner: Planner, text: str, names: set[str]) -> None:
    assert found(planner, text) == names


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("which genes does TP53 activate", {"BAX"}),
        ("which genes activate TP53", {"MDM2"}),
        ("which genes are activated by TP53", {"BAX"}),
        ("which genes does TP53 switch on", {"BAX"}),
        ("which metabolites are made from cholesterol", {"cortisol"}),
        ("what is cholesterol converted into", {"cortisol"}),
        ("which metabolites are converted into cholesterol", {"squalene"}),
    ],
)
def test_verbs_and_prepositions_say_which_way_a_relation_is_walked(
    planner: Planner, text: str, names: set[str]
) -> None:
    assert found(planner, text) == names


def test_what_is_compared_ends_at_its_name_though_another_name_is_not_found_at_once(planner: Planner) -> None:
    assert found(planner, "pathways older than Statin action in rats") == {"Vitamin D metabolism"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # The year of the last edit is the last in which there was one.
        ("Drosophila pathways that have not been edited since 2021", {"Wing growth"}),
        ("Drosophila pathways not updated since November 2021", {"Wing growth"}),
        ("Drosophila pathways not changed after 2022", {"Wing growth"}),
    ],
)
def test_what_was_not_edited_since_a_year_may_have_been_edited_in_it(
    planner: Planner, text: str, names: set[str]
) -> None:
    assert found(planner, text) == names
    assert best(planner, text).plan.target.relevance_text == ""


def test_a_turning_word_reaches_over_the_initial_of_a_name(planner: Planner) -> None:
    assert found(planner, "pathways by Ada Holm not written with Noah A. Smith") == {"Mood signals"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        # A field has no author of its own, and no relation joins diseases with authors.
        ("pathways without a status by Ada Holm", {"Mood signals"}),
        ("pathways without any disease by Noah A. Smith", {"Wing growth"}),
    ],
)
def test_what_is_lacked_ends_before_a_name_that_belongs_to_the_answers(
    planner: Planner, text: str, names: set[str]
) -> None:
    assert found(planner, text) == names


def test_two_values_of_a_field_in_a_list_mean_either(planner: Planner) -> None:
    assert found(planner, "emerging or legacy Drosophila pathways") == {"Wing growth", "Fly sleep"}
    assert best(planner, "emerging or legacy Drosophila pathways").plan.target.relevance_text == ""


def test_a_participle_before_by_is_no_answer_type(planner: Planner) -> None:
    plan = best(planner, "pathways co-authored by Ada Holm and Noah A. Smith").plan
    assert (plan.target.labels, [hop.rel for hop in plan.hops]) == (("pathway",), ["AUTHORED_BY"] * 2)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("pathways from Sweden", {"Statin action", "Mood signals"}),
        ("pathways by Noah A. Smith not from Sweden", {"Wing growth"}),
        # No word says a type that has places; these do.
        ("events in Norway", {"Wing growth"}),
    ],
)
def test_a_part_of_a_list_of_places_is_contained_in_what_is_asked_for(
    planner: Planner, text: str, names: set[str]
) -> None:
    assert found(planner, text) == names


def test_what_no_relation_leads_to_is_not_counted_by_another(planner: Planner) -> None:
    """The number of an author's pathways is not that of their organisms."""
    assert best(planner, "authors with the most organisms").plan.order is None
    counted = best(planner, "authors with the most pathways").plan
    assert counted.order is not None
    assert counted.target.labels == ("author",)


def test_what_only_the_relation_names_is_counted_whatever_its_type(planner: Planner) -> None:
    """Pathways have genes and metabolites as participants; *most participants* asks for both together."""
    counted = {}
    for text in ("pathway with the most participants", "pathway with the most genes"):
        order = best(planner, text).plan.order
        assert order is not None
        assert isinstance(order.by, Count)
        counted[text] = (order.by.rel, order.by.to_label)
    assert list(counted.values()) == [("HAS_PARTICIPANT", ANY), ("HAS_PARTICIPANT", "gene")]
