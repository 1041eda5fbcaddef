"""Paths drawn from left to right."""

from itertools import pairwise
from typing import Any

from search.domain.graph import Relation
from search.text import path_text
from search.views.shown.drawing import Drawing, draw


def node(identifier: str, var: str = "", node_type: str = "thing") -> dict[str, Any]:
    item: dict[str, Any] = {"node": {"id": identifier, "type": node_type, "name": identifier}}
    return item | ({"var": var} if var else {})


def edge(relation: str, direction: str = "out") -> dict[str, str]:
    return {"relation": relation, "direction": direction}


def drawn(paths: list[list[dict[str, Any]]]) -> Drawing | None:
    return draw(paths, {})


LONG = [node("a", "a1"), edge("CITES"), node("b", "x"), edge("WRITES", "in"), node("t", "T")]
SHORT = [node("c", "a2"), edge("IN_FIELD"), node("t", "T")]


def test_a_path_in_words_points_as_its_edges_are_stored() -> None:
    assert path_text(LONG) == "a — cites → b ← writes — t"


def test_nothing_is_drawn_without_a_path() -> None:
    assert drawn([]) is None
    assert drawn([[]]) is None


def test_a_target_that_paths_share_is_drawn_once_in_the_last_column() -> None:
    drawing = drawn([LONG, SHORT])

    assert drawing is not None
    assert [box.name for box in drawing.boxes] == ["a", "b", "c", "t"]
    target = drawing.boxes[-1]
    assert target.kind == "target"
    assert all(box.right < target.x for box in drawing.boxes[:-1])
    assert target.right <= drawing.width
    assert max(box.y + box.height for box in drawing.boxes) <= drawing.height
    assert drawing.summary == "a — cites → b ← writes — t; c — in field → t"


def test_nodes_as_many_hops_from_the_target_stand_in_one_column() -> None:
    drawing = drawn([LONG, SHORT])

    assert drawing is not None
    by_name = {box.name: box for box in drawing.boxes}
    assert by_name["b"].x == by_name["c"].x
    assert by_name["a"].x < by_name["b"].x


def test_boxes_of_a_row_leave_room_for_the_name_of_the_relation() -> None:
    drawing = drawn([[node("a"), edge("a relation with quite a long name"), node("b")]])

    assert drawing is not None
    first, second = drawing.boxes
    assert second.x - first.right > 33 * 6


def test_targets_that_differ_are_drawn_apart() -> None:
    drawing = drawn([SHORT, [node("c", "a2"), edge("IN_FIELD"), node("u", "T")]])

    assert drawing is not None
    assert [box.name for box in drawing.boxes] == ["c", "t", "c", "u"]
    rows = [box.y for box in drawing.boxes]
    assert rows[0] == rows[1] < rows[2] == rows[3]


def test_an_anchor_that_is_itself_the_answer_is_a_single_box() -> None:
    drawing = drawn([[node("t", "T")]])

    assert drawing is not None
    assert [(box.name, box.kind) for box in drawing.boxes] == [("t", "target")]
    assert drawing.lines == ()


def test_the_head_of_an_edge_stands_where_the_stored_edge_ends() -> None:
    drawing = drawn([LONG])

    assert drawing is not None
    pairs = list(pairwise(drawing.boxes))
    assert drawing.lines[0].head.startswith(f"M{pairs[0][1].x:.1f} ")
    assert drawing.lines[1].head.startswith(f"M{pairs[1][0].right:.1f} ")


def test_a_relation_is_worded_as_it_is_walked() -> None:
    writes = {"WRITES": Relation("WRITES", "wrote", "was written by"), "CITES": Relation("CITES")}
    drawing = draw([LONG], writes)

    assert drawing is not None
    assert [line.label for line in drawing.lines] == ["cites", "was written by"]
    assert [(stop.relation, stop.direction) for stop in drawing.stacks[0]] == [
        ("cites", "out"),
        ("was written by", "in"),
    ]
    assert drawing.summary == "a — cites → b ← writes — t"


def test_a_long_name_is_shortened_and_kept_whole_beside_it() -> None:
    name = "A name that goes on and on without any sign of an end"
    drawing = drawn([[node(name)]])

    assert drawing is not None
    [box] = drawing.boxes
    assert box.name == "A name that goes on and on wi…"
    assert box.full_name == name


def test_where_there_is_no_room_each_path_is_a_stack_above_the_target_that_they_share() -> None:
    drawing = drawn([LONG, SHORT])

    assert drawing is not None
    assert [[(stop.name, stop.relation, stop.direction) for stop in stack] for stack in drawing.stacks] == [
        [("a", "cites", "out"), ("b", "writes", "in")],
        [("c", "in field", "out")],
    ]
    assert drawing.shared is not None
    assert (drawing.shared.name, drawing.shared.var, drawing.shared.kind) == ("t", "T", "target")


def test_paths_to_different_ends_are_stacks_with_their_own_ends() -> None:
    drawing = drawn([[node("a"), edge("CITES"), node("b")], [node("a"), edge("CITES"), node("c")]])

    assert drawing is not None
    assert drawing.shared is None
    assert [[(stop.kind, stop.name) for stop in stack] for stack in drawing.stacks] == [
        [("anchor", "a"), ("target", "b")],
        [("anchor", "a"), ("target", "c")],
    ]


def test_a_drawing_is_shown_from_the_first_known_width_that_holds_it_and_never_where_none_does() -> None:
    near, far = drawn([SHORT]), drawn([[node("a" * 30), edge("B" * 90), node("c")]])

    assert near is not None
    assert far is not None
    assert (near.room - 6) * 16 < near.width <= near.room * 16
    assert far.room == 0


def test_wide_letters_get_wide_boxes() -> None:
    small, capital, wide = (drawn([[node(letter * 20)]]) for letter in ("a", "X", "漢"))

    assert small is not None
    assert capital is not None
    assert wide is not None
    assert small.width < capital.width < wide.width
