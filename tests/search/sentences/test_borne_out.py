"""A sentence in a model's words says nothing but what its sources say."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.sentences.borne_out import SentenceClaim, is_borne_out, is_hedged

EVIDENCE = {
    1: "Godwit 2 Tent; product; Hollow makes Godwit 2 Tent; price 389; not “made of stainless steel”",
    2: "Godwit 4 Tent; product; Hollow makes Godwit 4 Tent; price 1,549.5",
    3: "product that is made by “Hollow”: 2 found",
}
CLAIMS = [
    SentenceClaim("Two products answer this: Godwit 2 Tent (price 389) [1] and Godwit 4 Tent (price 1,549.5) [2].",
          frozenset({1, 2})),
    SentenceClaim("Each of them is a product that is made by “Hollow” [3].", frozenset({3})),
]  # fmt: skip


def said(sentence: str) -> bool:
    return is_borne_out(sentence, EVIDENCE, CLAIMS)


@pytest.mark.parametrize(
    "sentence",
    [
        "Hollow makes Godwit 2 Tent [1].",
        "Godwit 2 Tent is made by Hollow [1][3], and its price is 389 [1].",
        "The two products that answer this are Godwit 2 Tent [1] and Godwit 4 Tent [2].",
        "The price of Godwit 2 Tent is 389 [1] and that of Godwit 4 Tent is 1549.5 [2].",
        "Each product is made by Hollow [3].",
        "Godwit 2 Tent is not made of stainless steel [1].",
    ],
)
def test_what_the_sources_say_may_be_said_in_another_order(sentence: str) -> None:
    assert said(sentence)


@pytest.mark.parametrize(
    "sentence",
    [
        # Without a source, or with one that there is not.
        "Hollow makes Godwit 2 Tent.",
        "Hollow makes Godwit 2 Tent [4].",
        # Invented names, words and numbers.
        "Ostervik makes Godwit 2 Tent [1].",
        "Godwit 2 Tent is a waterproof product [1].",
        "The price of Godwit 2 Tent is 399 [1].",
        "Three products answer this: Godwit 2 Tent [1] and Godwit 4 Tent [2].",
        "Only Hollow makes Godwit 2 Tent [1].",
        # What another source says.
        "The price of Godwit 4 Tent is 389 [2].",
        "Godwit 4 Tent [1] is a product.",
        "Godwit 2 Tent has the price 1,549.5, and Godwit 4 Tent the price 389 [1][2].",
        # Negations that are invented, and those that are left out.
        "Hollow does not make Godwit 2 Tent [1].",
        "Godwit 2 Tent is made of stainless steel [1].",
        "Godwit 2 Tent is without price [1].",
        "No product is made by Hollow [3].",
        # A relation turned round.
        "Godwit 2 Tent makes Hollow [1].",
        "Godwit 2 Tent [1] makes Hollow [3] [1].",
    ],
)
def test_what_the_sources_do_not_say_is_refused(sentence: str) -> None:
    assert not said(sentence)


@given(st.text(st.characters(categories=["L"]), min_size=4, max_size=12), st.sampled_from([1, 2]))
def test_no_invented_name_passes(name: str, number: int) -> None:
    evidence = EVIDENCE[number].casefold()
    if name.casefold()[:3] not in evidence:
        assert not said(f"Hollow makes {name} [{number}].")


@given(st.integers(0, 10**7))
def test_no_invented_number_passes(amount: int) -> None:
    assert said(f"The price of Godwit 2 Tent is {amount} [1].") == (amount in (2, 389))


@pytest.mark.parametrize("word", ["not", "never", "no longer"])
@pytest.mark.parametrize("number", [1, 2])
def test_no_invented_negation_passes(word: str, number: int) -> None:
    assert said(f"Godwit {2 * number} Tent is made by Hollow [{number}][3].")
    assert not said(f"Godwit {2 * number} Tent is {word} made by Hollow [{number}][3].")


def test_what_leaves_a_claim_open_is_known() -> None:
    assert is_hedged("Two products may answer this.")
    assert not is_hedged("Two products answer this.")
