"""Conditions, paths and sums of results."""

from typing import Any

import pytest

from search.views.shown.results import show_results


def test_contributions_are_written_as_the_sum_that_gives_the_score(described: dict[str, Any]) -> None:
    first = show_results(described)[0]

    assert [(part.title, part.rank, part.formula) for part in first.parts] == [
        ("Graph paths", 1, "2.5 / (5 + 1)"),
        ("Document text", 1, "1 / (5 + 1)"),
    ]
    assert first.total == pytest.approx(2.5 / 6 + 1 / 6) == pytest.approx(first.score)
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
    shown = show_results(described)[0]

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
    shown = show_results(described)[0]
    assert [(part.depth, part.formula) for part in shown.parts] == [
        (0, "2.5 / (5 + 1)"), (0, "1 / (5 + 3)"), (1, "12 × 0.3000"), (1, "6 × 0.5000"), (1, ""),
    ]  # fmt: skip
    assert shown.formula == "w / (k + rank) or w × score"
    assert sum(part.contribution for part in shown.parts if part.depth) == pytest.approx(1 / 8)


def test_a_list_that_does_not_hold_the_result_comes_last_and_adds_nothing(described: dict[str, Any]) -> None:
    text, graph = show_results(described)[2].parts

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
    [part] = [part for part in show_results(described)[0].parts if part.title == "Document text"]

    assert part.formula == f"{written} / (5 + 1)"
    assert float(written) / 6 == pytest.approx(weight / 6, abs=5e-5)


def test_bars_are_as_long_as_their_part_of_the_largest_contribution(described: dict[str, Any]) -> None:
    first, second = show_results(described)[:2]

    assert first.parts[0].bar == 160.0
    assert second.parts[0].bar == pytest.approx(160 * (2.5 / 7) / (2.5 / 6), abs=0.1)


def test_conditions_are_entities_then_relations_then_the_text(described: dict[str, Any]) -> None:
    first = show_results(described)[0]

    assert [(c.kind, c.label, c.mark, c.word) for c in first.conditions] == [
        ("anchor", "Ingunn Aas", "✓", "met"),
        ("anchor", "Ostervik", "✓", "met"),
        ("hop", "designed by", "✓", "met"),
        ("hop", "has brand", "✓", "met"),
        ("text", "“keeps a drink cold”", "≈", "similarity 0.52"),
    ]
    assert first.conditions[2].note == "Ingunn Aas to product"
    assert first.conditions[4].note == "the nearest entries of its type reach 0.31"


@pytest.mark.parametrize("status", ["met", "not_met"])
def test_how_near_a_text_is_is_no_condition_that_is_met_or_not(described: dict[str, Any], status: str) -> None:
    described["results"][0]["evidence"]["residual"] = {
        "text": "cold",
        "status": status,
        "score": 0.269,
        "threshold": None,
    }

    text = show_results(described)[0].conditions[-1]

    assert (text.status, text.mark, text.word, text.note) == ("near", "≈", "similarity 0.27", "")


def test_a_text_that_could_not_be_held_against_the_document_says_so(described: dict[str, Any]) -> None:
    described["results"][0]["evidence"]["residual"] = {"text": "cold", "status": "unknown", "score": None}

    text = show_results(described)[0].conditions[-1]

    assert (text.status, text.mark, text.word) == ("unknown", "?", "not checked")


def test_conditions_are_those_of_the_plan_that_the_evidence_names(described: dict[str, Any]) -> None:
    last = show_results(described)[3]

    assert [(c.label, c.status, c.word) for c in last.conditions] == [
        ("Ingunn Aas", "met", "met"),
        ("designed by", "met", "met"),
        ("also buy", "unknown", "not checked"),
    ]
    assert last.plan_index == 1


def test_paths_are_lines_and_tables(described: dict[str, Any]) -> None:
    last = show_results(described)[3]

    [path] = last.paths
    assert path.words.startswith("Ingunn Aas ← designed by — Sval Flask 1.0 — also buy → Alpenglow")
    assert [(start["node"]["name"], relation) for start, relation, _ in path.rows] == [
        ("Ingunn Aas", "← designed by —"),
        ("Sval Flask 1.0", "— also buy →"),
    ]


def test_a_result_without_evidence_has_no_conditions_and_no_drawing(described: dict[str, Any]) -> None:
    described["results"][0]["evidence"] = None
    described["fusion"] = None

    first = show_results(described)[0]

    assert (first.conditions, first.paths, first.drawing, first.plan_index) == ((), (), None, None)
    assert not first.fused


def test_filters_stand_behind_the_relations_and_what_was_dropped_before_the_text(described: dict[str, Any]) -> None:
    described["results"][0]["evidence"]["filters"] = [{"index": 0, "status": "not_met"}]
    described["plans"][0]["dropped"] = ["good for winter"]

    conditions = show_results(described)[0].conditions

    assert [(c.kind, c.label, c.mark, c.word) for c in conditions[4:]] == [
        ("filter", "price ≤ 60", "✗", "not met"),
        ("dropped", "good for winter", "–", "dropped"),
        ("text", "“keeps a drink cold”", "≈", "similarity 0.52"),
    ]


def test_the_value_that_the_plan_shows_stands_beside_its_result(described: dict[str, Any]) -> None:
    first, second = described["results"][:2]
    plan = described["plans"][first["evidence"]["plan_index"]]["plan"]
    plan["show"] = "unit_price"
    first["evidence"]["value"] = 29
    shown = show_results(described)
    assert (shown[0].ordered, shown[1].ordered) == ("unit price 29", "")
    assert second["evidence"] is None or "value" not in second["evidence"]


def test_the_values_that_filters_compare_stand_beside_every_result(described: dict[str, Any]) -> None:
    first = described["results"][0]
    plan = described["plans"][first["evidence"]["plan_index"]]["plan"]
    first["evidence"]["values"] = {"weight_g": 2180, "half_life_hours": 1, "released": "2023-03-14"}
    assert show_results(described)[0].ordered == "weight 2180 g, half life 1 hour, released 2023-03-14"
    # What orders or is shown already is not said twice.
    plan["order"] = {"by": {"field": "weight_g"}, "direction": "asc"}
    first["evidence"] |= {"order": {"status": "met", "value": 2180, "place": 1}, "values": {"weight_g": 2180}}
    shown = show_results(described)[0]
    assert (shown.ordered, shown.place) == ("weight 2180 g", "place 1")
