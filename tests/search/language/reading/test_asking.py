"""What kind of answer a question wants."""

import pytest

from search.language.reading import read_cues


@pytest.mark.parametrize(
    ("text", "ask"),
    [
        ("How many lamps are there?", "how many"),
        ("number of papers Ada wrote", "how many"),
        ("what is the total number of lamps", "how many"),
        ("count the films by Bo", "how many"),
        ("Does aspirin treat pain?", "whether"),
        ("is there any lamp made of wool", "whether"),
        ("Did Ada ever work with Bo?", "whether"),
        ("I want to know whether aspirin treats pain", "whether"),
        ("Isn't aspirin used for pain?", "whether"),
        ("aspirin treats pain, right?", "whether"),
        ("Which lamps are there?", None),
        ("can you show me lamps", None),
        ("I count every gram. What is light?", None),
        ("Do you have lamps?", None),
        ("drugs with a number of side effects", None),
        ("the effect listed for the largest number of drugs", None),
        ("lamps", None),
        ("", None),
    ],
)
def test_the_kind_of_answer_is_read(text: str, ask: str | None) -> None:
    asking = read_cues(text).asking
    assert (asking.ask if asking else None) == ask
