"""Relations in English words, from either of their ends; expectations were written by hand."""

from __future__ import annotations

import pytest

from search.domain.graph import Relation
from training.data.synthesis import english
from training.data.synthesis.english_words import fill
from training.data.synthesis.forms import Forms, forms_of


def said(relation: Relation, *, source: bool) -> Forms:
    """Return the forms with A for the other node and WHO for the word that asks."""
    forms = forms_of(relation, answer_is_source=source)

    def filled(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(fill(text, o="A", wh="WHO") for text in texts)

    return Forms(filled(forms.after), forms.roles, filled(forms.asks))


def test_a_passive_name_gives_the_active_and_who_does_it() -> None:
    directed = Relation("DIRECTED_BY")
    films, people = said(directed, source=True), said(directed, source=False)
    assert {"directed by A", "that are directed by A", "that A directed", "by A"} <= set(films.after)
    assert "WHO did A direct" in films.asks
    assert people.roles == ("director",)
    assert {"that directed A", "who directed A"} <= set(people.after)
    assert {"WHO directed A", "A was directed by WHO", "WHO was A directed by"} <= set(people.asks)


def test_an_irregular_participle_has_its_past_tense_and_its_noun() -> None:
    people = said(Relation("WRITTEN_BY"), source=False)
    assert people.roles == ("writer",)
    assert "WHO wrote A" in people.asks
    # Where the infinitive is not sure, nothing is asked with it.
    assert not [form for form in said(Relation("WRITTEN_BY"), source=True).asks if "did" in form]


def test_a_noun_is_had_from_one_end_and_is_the_role_at_the_other() -> None:
    films, years = said(Relation("RELEASE_YEAR"), source=True), said(Relation("RELEASE_YEAR"), source=False)
    assert {"with release year A", "whose release year is A", "with year A"} <= set(films.after)
    assert years.roles == ("release year", "year")
    assert "what is the release year of A" in years.asks


def test_what_is_had_keeps_only_its_noun() -> None:
    films, genres = said(Relation("HAS_GENRE"), source=True), said(Relation("HAS_GENRE"), source=False)
    assert "with genre A" in films.after
    assert genres.roles == ("genre",)
    assert not [form for form in (*films.after, *genres.asks) if "has genre" in form]


def test_a_verb_is_used_from_both_ends() -> None:
    linking, linked = said(Relation("LINKS_TO"), source=True), said(Relation("LINKS_TO"), source=False)
    assert linking.after == ("that link to A",)
    assert linking.asks == ("WHO links to A",)
    assert linked.after == ("that A links to",)
    assert set(linked.asks) == {"WHO does A link to", "A links to WHO"}


def test_a_description_and_an_inverse_are_said_as_they_are() -> None:
    relation = Relation("HAS_BRAND", "is made by", "makes", ("brand", "manufacturer"))
    products, brands = said(relation, source=True), said(relation, source=False)
    assert {"made by A", "that are made by A", "that A makes", "with brand A"} <= set(products.after)
    assert {"that make A", "that made A"} <= set(brands.after)
    assert set(brands.roles) == {"maker", "brand", "manufacturer"}
    assert {"WHO makes A", "WHO is A made by"} <= set(brands.asks)


@pytest.mark.parametrize("name", ["x", "", "__", "OF", "by", "R2D2", "関係", "has", "IS", "is_", "a b c d e f"])
@pytest.mark.parametrize("source", [True, False])
def test_any_name_has_forms_without_empty_slots(name: str, source: bool) -> None:
    forms = said(Relation(name), source=source)
    assert all("{" not in form for form in (*forms.after, *forms.roles, *forms.asks))


@pytest.mark.parametrize(
    ("one", "many"),
    [("movie", "movies"), ("country", "countries"), ("person", "people"), ("gene protein", "gene proteins"),
     ("process", "processes"), ("day", "days"), ("series", "series"), ("branch", "branches")],
)  # fmt: skip
def test_plurals(one: str, many: str) -> None:
    assert english.plural(one) == many


def test_verbs_agree_with_a_subject_in_the_plural() -> None:
    assert english.with_number("is made by", many=True) == "are made by"
    assert english.with_number("carries", many=True) == "carry"
    assert english.agreeing("what was {o} made by") == "what were {o} made by"
    assert english.agreeing("{o} interacts with {wh}") == "{o} interact with {wh}"
    assert english.agreeing("that {o} wrote") == "that {o} wrote"


def test_objects_are_asked_for() -> None:
    assert english.asked_of("acts on", "what", "X") == "what does X act on"
    assert english.asked_of("may cause", "what", "X") == "what may X cause"
    assert english.asked_of("is part of", "what", "X") == "what is X part of"
