"""A question in another language is searched with its words in the base's language, too."""

from dataclasses import dataclass, field

from search.domain.graph import Schema
from search.domain.question import Question
from search.domain.trace import Limit
from search.stages.gloss import Gloss


@dataclass
class InEnglish:
    schema: Schema = field(default_factory=lambda: Schema((), (), ()))


STAGE = Gloss(InEnglish())  # type: ignore[arg-type]


def test_the_words_of_both_languages_are_searched() -> None:
    asked = Question("Welche Medikamente von Hoshimori helfen bei Asthma?", k=7)
    assert STAGE.reads(asked)
    found = STAGE(asked, [], Limit())
    assert [(part.source, part.text) for part in found.parts] == [
        ("question", asked.text), ("gloss", "which drugs of Hoshimori treat asthma?"),
    ]  # fmt: skip
    assert found.asked(asked).k == 7


def test_a_question_in_the_language_of_the_base_is_left_alone() -> None:
    asked = Question("Which drugs help against asthma?")
    assert not STAGE.reads(asked)
    assert STAGE(asked, [], Limit()).text == asked.text


def test_a_language_without_a_dictionary_is_left_alone() -> None:
    assert not STAGE.reads(Question("Mitkä lääkkeet auttavat astmaan?"))
