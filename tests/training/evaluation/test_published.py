"""Published figures: each has its source, and they are those of the papers."""

from __future__ import annotations

import pytest

from training.evaluation.published import SETS, published, set_of


@pytest.mark.parametrize("of_set", SETS)
def test_every_figure_has_a_source_and_is_a_percentage(of_set: str) -> None:
    rows = published(of_set)
    assert len(rows) > 20
    for row in rows:
        assert row.paper
        assert row.table.startswith("Table ")
        known = [value for value in row.figures.values() if value is not None]
        assert known
        assert all(0 < value <= 100 for value in known)
        # A hit at 1 is a hit at 5, and the reciprocal rank lies between the two.
        first, five, mrr = row.figures["H@1"], row.figures["H@5"], row.figures["MRR"]
        if first is not None and five is not None and mrr is not None:
            assert first <= mrr <= five, row
    keys = [(row.method, row.questions, row.table) for row in rows]
    assert len(keys) == len(set(keys))


def test_grasp_s_own_averages_come_out_of_its_rows() -> None:
    # The paper's average over its three sets: 73.9 / 90.4 / 83.4 / 81.3.
    rows = [next(row for row in published(name) if row.method == "GRASP") for name in SETS]
    means = [sum(row.figures[measure] or 0 for row in rows) / 3 for measure in ("H@1", "H@5", "R@20", "MRR")]
    assert means == pytest.approx([73.9, 90.4, 83.4, 81.3], abs=0.11)


def test_a_knowledge_base_names_its_set() -> None:
    assert [set_of(name) for name in ("prime-ibd", "stark_amazon", "MAG", "primed", "movies")] == [
        "prime", "amazon", "mag", "", "",
    ]  # fmt: skip
    with pytest.raises(KeyError):
        published("movies")
