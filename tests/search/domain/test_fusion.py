"""Fusions of fusions: whatever the nesting, the parts of the leaves add up to the fused score."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from search.domain.fusion import Fusion
from search.domain.ranking import Ranking
from search.domain.trust import Trust
from tests.rankings import ranked, table

COSINES = table({key: (key * 7 % 11) / 11 for key in range(12)})
leaves = st.dictionaries(st.integers(0, 11), st.floats(0, 1), max_size=12).map(ranked)
names = st.sampled_from(("graph", "text", "bm25", "vss"))


def fusions(inner: st.SearchStrategy[Ranking | Fusion]) -> st.SearchStrategy[Fusion]:
    @st.composite
    def fused(draw: st.DrawFn) -> Fusion:
        lists = draw(st.dictionaries(names, inner, min_size=1, max_size=4))
        kind = draw(st.integers(0, 5))
        if kind == 0:
            return Fusion.single(*next(iter(lists.items())))
        weights = {name: draw(st.sampled_from((0.0, 0.05, 0.3, 1.0, 2.5))) for name in lists}
        depth = draw(st.sampled_from((None, 1, 5)))
        if kind <= 2:
            return Fusion.added(lists, weights, COSINES, depth)
        return Fusion.of(lists, weights, draw(st.sampled_from((0.0, 1.0, 5.0, 60.0))), COSINES, depth)

    return fused()


nested = fusions(st.recursive(leaves, fusions, max_leaves=8))


@given(nested)
def test_the_parts_of_the_leaves_add_up_whatever_the_nesting(fusion: Fusion) -> None:
    for key, score in fusion.ranking.scores.items():
        assert sum(share.contribution for share in fusion.leaves(key).values()) == pytest.approx(score, abs=1e-9)


@given(nested)
def test_the_parts_of_the_lists_of_a_fusion_add_up_to_its_own_part(fusion: Fusion) -> None:
    for key in fusion.ranking.keys:
        every = {share.path: share for share in (*fusion.leaves(key).values(), *fusion.fused(key).values())}
        for share in fusion.fused(key).values():
            parts = [s.contribution for path, s in every.items() if path[:-1] == share.path]
            assert sum(parts) == pytest.approx(share.contribution, abs=1e-9)


@given(nested)
def test_every_leaf_is_named_once_and_its_path_leads_to_it(fusion: Fusion) -> None:
    def walk(one: Fusion, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
        for name, listed in one.rankings.items():
            yield from walk(listed, (*path, name)) if isinstance(listed, Fusion) else [(*path, name)]

    shares = fusion.leaves(0)
    assert sorted(share.path for share in shares.values()) == sorted(walk(fusion))
    assert all(name in (share.path[-1], "/".join(share.path)) for name, share in shares.items())


def test_sums_that_are_equal_on_paper_are_level_and_the_cosine_decides() -> None:
    # 0.1 + 0.2 is not 0.3 in floating point numbers: the same three parts, added in another order.
    lists = {name: ranked({key: -float(place) for place, key in enumerate(order)})
             for name, order in zip("abc", itertools.permutations((1, 2, 3)), strict=False)}  # fmt: skip
    fusion = Fusion.of(lists, dict.fromkeys(lists, 1.0), 0.3, table({}))
    again = Fusion.of(dict(reversed(lists.items())), dict.fromkeys(lists, 1.0), 0.3, table({}))
    assert fusion.ranking == again.ranking


def test_a_fusion_is_read_back_as_it_was_written() -> None:
    lists = {"graph": ranked({1: 2.0, 2: 1.0}), "text": ranked({2: 0.5, 3: 0.4})}
    fusion = Fusion.of(
        lists, {"graph": 2.0, "text": 1.0}, 5.0, COSINES, method="dynamic", bucket="[1,10]", risk="normal", leads=True,
        trust={"graph": Trust(2, "normal", 0.9)},
    )  # fmt: skip
    assert Fusion.from_json(fusion.to_json()) == fusion


def test_the_lists_of_one_name_in_two_fusions_are_told_apart_by_their_paths() -> None:
    inner = {name: Fusion.of({"bm25": ranked({1: 1.0})}, {"bm25": 1.0}, 1.0, COSINES) for name in ("one", "two")}
    fusion = Fusion.of(inner, {"one": 1.0, "two": 3.0}, 1.0, COSINES)
    assert {name: share.contribution for name, share in fusion.leaves(1).items()} == {
        "one/bm25": 0.5, "two/bm25": 1.5,
    }  # fmt: skip


def test_a_sum_of_scores_is_weight_times_score_and_a_missing_list_adds_nothing() -> None:
    lists = {"name": ranked({1: 0.5, 2: -0.25}), "text": ranked({2: 1.0, 3: 0.2})}
    fusion = Fusion.added(lists, {"name": 2.0, "text": 0.5}, COSINES)
    assert fusion.ranking.scores == {1: 1.0, 3: 0.1, 2: 0.0}
    assert fusion.ranking.keys == (1, 3, 2)
    assert {name: share.contribution for name, share in fusion.leaves(2).items()} == {"name": -0.5, "text": 0.5}
    assert fusion.leaves(1)["text"].contribution == 0.0
    assert fusion.leaves(1)["text"].rank is None
    assert Fusion.from_json(fusion.to_json()).contribution("name", 2) == -0.5
    assert Fusion.added(lists, {"name": 2.0, "text": 0.5}, COSINES, depth=1).ranking.keys == (1,)
