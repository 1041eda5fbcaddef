"""What is collected of training questions, over the makers: which meanings are tried, and what each finds."""

from __future__ import annotations

import numpy as np
import pytest

from search.domain.errors import SearchCancelled
from search.domain.trace import Limit
from search.stages.plan import Planner
from tests.training import makers
from tests.training.learning.meanings import meanings
from training.learning.plan_meanings import SEEN, Collector, Meanings, PairTable, f1


@pytest.fixture(scope="module")
def planner(tmp_path_factory: pytest.TempPathFactory) -> Planner:
    return makers.planner(tmp_path_factory.mktemp("makers"))


def collected(planner: Planner, tried: int = 25, limit: Limit | None = None) -> tuple[list[Meanings], list[int]]:
    """Return the meanings of the questions about one thing, and the numbers of questions that were told to be done."""
    examples = makers.questions(end=1)
    done: list[int] = []
    answers = makers.lesson(planner, examples).answers
    found = Collector(planner.reader, tried).collect([e.text for e in examples], answers, done.append, limit or Limit())
    return found, done


@pytest.mark.parametrize(
    ("found", "answers", "expected"), [([1, 2], [2, 3, 4], 0.4), ([5], [5], 1.0), ([], [1], 0.0), ([1], [], 0.0)]
)
def test_f1_of_keys(found: list[int], answers: list[int], expected: float) -> None:
    assert f1(np.array(found, dtype=np.int32), np.array(answers, dtype=np.int32)) == pytest.approx(expected)


def test_meanings_are_those_that_searches_try_with_what_each_finds(planner: Planner) -> None:
    found, done = collected(planner)
    assert done == [1, 2]
    kinds = (("blim", "mad"), ("zork", "use"))
    for one, example, (relation, stem) in zip(found, makers.questions(end=1), kinds, strict=True):
        assert one.scores == pytest.approx([tried.score for tried in planner.reader.read(example.text, Limit())])
        elements = [{one.parts[part][0] for part in own} for own in one.of]
        [right] = [own for own, is_right in zip(elements, one.right, strict=True) if is_right]
        assert f"path {relation}>person(thing)" in right
        assert one.teaches
        assert {word for _, said in one.parts for word in said} >= {"", "who", f"who {stem}", f"{stem} *"}


def test_fewer_are_tried_where_that_is_wanted(planner: Planner) -> None:
    assert [len(one.fit) for one in collected(planner, tried=2)[0]] == [2, 2]


def test_a_cancelled_run_stops(planner: Planner) -> None:
    with pytest.raises(SearchCancelled):
        collected(planner, limit=Limit(cancelled=lambda: True))


def test_only_pairs_that_several_questions_have_are_columns() -> None:
    often = meanings([0.0], [1.0], parts=[("type film", ("", "often"))], of=[[0]])
    rare = meanings([0.0], [1.0], parts=[("type film", ("", "rare")), ("type film", ("often",))], of=[[0, 1]])
    table = PairTable.of_questions([*[often] * (SEEN - 1), rare])
    assert table.pairs == [("type film", ""), ("type film", "often")]
    # The last question has the pair with "often" in its second part; its meaning has both parts.
    assert (table.of @ table.parts).toarray().tolist() == [[1.0, 1.0]] * SEEN


def test_questions_without_meanings_have_no_rows() -> None:
    table = PairTable.of_questions([meanings([], []), meanings([0.5], [1.0])])
    assert (table.scores.tolist(), table.first.tolist()) == ([0.5], [0, 0, 1])
