"""How texts share the room that there is, and where a text is cut."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.cutting import shares, shortened


@pytest.mark.parametrize(
    ("sizes", "most", "cut"),
    [
        ([5, 5], 10, [5, 5]),
        ([5, 100], 20, [5, 15]),
        ([30, 2, 30], 20, [9, 2, 9]),
        ([8, 8, 8], 9, [3, 3, 3]),
        ([], 5, []),
    ],
)
def test_the_longest_texts_are_cut_to_the_same_length(sizes: list[int], most: int, cut: list[int]) -> None:
    assert shares(sizes, most) == cut


@given(st.lists(st.integers(0, 500), max_size=8), st.integers(0, 1_000))
def test_shares_use_all_the_room_there_is_and_never_cut_a_text_that_is_shorter_than_a_kept_one(
    lengths: list[int], total: int
) -> None:
    kept = shares(lengths, total)
    assert sum(kept) == min(total, sum(lengths))
    assert all(0 <= one <= length for one, length in zip(kept, lengths, strict=True))
    cut = [one for one, length in zip(kept, lengths, strict=True) if one < length]
    assert not cut or max(kept) - min(cut) <= 1


@pytest.mark.parametrize(
    ("text", "most", "expected"),
    [("two words", 20, "two words"), ("two words", 5, "two"), ("two words", 3, "two"), ("Donaudampf", 4, "Dona")],
)
def test_a_text_is_cut_between_words_unless_it_is_a_single_one(text: str, most: int, expected: str) -> None:
    assert shortened(text, most) == expected
