"""The sum that gives a result its place, and the bars beside it."""

from typing import Any

import pytest

from search.views.shown.why import ShownWhy, show_why


def why(described: dict[str, Any], rank: int = 1) -> ShownWhy:
    found = show_why(described, rank, {})
    assert found is not None
    return found


def test_contributions_are_written_as_the_sum_that_gives_the_score(described: dict[str, Any]) -> None:
    first = why(described)

    assert [(part.title, part.rank, part.formula) for part in first.parts] == [
        ("Graph paths", 1, "2.5 / (5 + 1)"),
        ("Document text", 1, "1 / (5 + 1)"),
    ]
    assert first.total == pytest.approx(2.5 / 6 + 1 / 6) == pytest.approx(described["results"][0]["score"])
    assert first.fused


def test_lists_that_were_fused_into_another_stand_under_it_and_share_what_it_adds(described: dict[str, Any]) -> None:
    # Words rank it 4th, vectors 1st: 1/64 + 1/61 is the score of the text's list, where it is 3rd, so that adds 1/8.
    inner = {"bm25": (4, 2.5, 1 / 64), "vss": (1, 0.4, 1 / 61)}
    score = 1 / 64 + 1 / 61
    result = described["results"][0]
    graph = result["scores"]["graph"]
    fused = {"rank": 3, "score": score, "weight": 1.0, "contribution": 1 / 8, "k": 5.0, "path": ["text"]}
    result |= {
        "scores": {
            "graph": graph | {"path": ["graph"]},
            **{
                name: {"rank": rank, "score": own, "weight": 1.0, "k": 60.0, "path": ["text", name],
                       "contribution": term / score / 8}
                for name, (rank, own, term) in inner.items()
            },
        },
        "fused": {"text": fused},
    }  # fmt: skip
    shown = why(described)

    assert [(part.depth, part.rank, part.formula) for part in shown.parts] == [
        (0, 1, "2.5 / (5 + 1)"), (0, 3, "1 / (5 + 3)"), (1, 1, "1 / (60 + 1)"), (1, 4, "1 / (60 + 4)"),
    ]  # fmt: skip
    assert shown.parts[1].score == pytest.approx(score)
    assert shown.parts[2].contribution + shown.parts[3].contribution == pytest.approx(1 / 8)
    assert shown.total == pytest.approx(2.5 / 6 + 1 / 8)


def test_a_sum_of_scores_is_written_as_weight_times_score_also_where_it_was_fused(described: dict[str, Any]) -> None:
    # The text's list is a sum of two: 12 × 0.3 + 6 × 0.5 = 6.6; the words' list lacks the result.
    result = described["results"][0]
    inner = {"name/dense": (3, 0.3, 12.0, 3.6), "pagerank": (1, 0.5, 6.0, 3.0), "text/bm25": (None, None, 6.0, 0.0)}
    result |= {
        "scores": {
            "graph": result["scores"]["graph"] | {"path": ["graph"]},
            **{
                name: {"rank": rank, "score": score, "weight": weight, "k": 0.0, "path": ["text", name],
                       "contribution": part / 6.6 / 8, "method": "sum"}
                for name, (rank, score, weight, part) in inner.items()
            },
        },
        "fused": {"text": {"rank": 3, "score": 6.6, "weight": 1.0, "contribution": 1 / 8, "k": 5.0, "path": ["text"]}},
    }  # fmt: skip
    shown = why(described)
    assert [(part.depth, part.formula) for part in shown.parts] == [
        (0, "2.5 / (5 + 1)"), (0, "1 / (5 + 3)"), (1, "12 × 0.3000"), (1, "6 × 0.5000"), (1, ""),
    ]  # fmt: skip
    assert shown.formula == "w / (k + rank) or w × score"
    assert sum(part.contribution for part in shown.parts if part.depth) == pytest.approx(1 / 8)


def test_a_list_that_does_not_hold_the_result_comes_last_and_adds_nothing(described: dict[str, Any]) -> None:
    text, graph = why(described, 3).parts

    assert (graph.rank, graph.formula, graph.contribution, graph.bar) == (None, "", 0.0, 0.0)
    assert (text.rank, text.formula) == (3, "1 / (5 + 3)")


@pytest.mark.parametrize(
    ("weight", "written"), [(0.00161725, "0.0016"), (0.25, "0.25"), (1.23456, "1.23456"), (0, "0")]
)
def test_a_small_weight_is_written_with_the_digits_that_count(
    described: dict[str, Any], weight: float, written: str
) -> None:
    share = described["results"][0]["scores"]["text"]
    share["weight"] = weight
    [part] = [part for part in why(described).parts if part.title == "Document text"]

    assert part.formula == f"{written} / (5 + 1)"
    assert float(written) / 6 == pytest.approx(weight / 6, abs=5e-5)


def test_bars_are_as_long_as_their_part_of_the_largest_contribution(described: dict[str, Any]) -> None:
    first, second = why(described, 1), why(described, 2)

    assert first.parts[0].bar == 160.0
    assert second.parts[0].bar == pytest.approx(160 * (2.5 / 7) / (2.5 / 6), abs=0.1)


def test_a_result_without_evidence_has_no_drawing_and_one_of_a_single_list_no_sum(described: dict[str, Any]) -> None:
    described["results"][0]["evidence"] = None
    described["fusion"] = None

    first = why(described)

    assert first.drawing is None
    assert not first.fused


def test_only_results_have_reasons(described: dict[str, Any]) -> None:
    assert show_why(described, 0, {}) is None
    assert show_why(described, len(described["results"]) + 1, {}) is None
