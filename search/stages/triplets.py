"""Question → triplets: a language model writes Cypher, which is read by a grammar (AF-Retriever, steps 2 and 3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

from search.asking import AskedAnswer, ask
from search.domain.conversation import NO_MODEL
from search.domain.cypher import CheckedQuery, CypherUnreadable, Strictness, checked_query, cypher_in, read_cypher
from search.domain.cypher.faults import CypherFault, in_sentences
from search.domain.errors import Fault
from search.domain.graph import Schema
from search.domain.options import option
from search.domain.plan import Plan
from search.domain.plan_triplets import triplets_of
from search.domain.question import Question
from search.domain.trace import Limit
from search.interfaces import LanguageModel
from search.interfaces.triplets import NoModel, WrittenTriplets
from search.prompts.autofocus import AutofocusPrompts
from search.prompts.reading import Unusable

STAGE = "triplets"
TIME_SHARE = 0.4
"""Largest part, in (0, 1), of the remaining time that the model may take: without it, the planner answers."""
_STRICT, _LENIENT = "strict", "lenient"


@dataclass(frozen=True)
class Triplets:
    """Asks the model for a Cypher query, and keeps what of it the grammar and the schema allow.

    A query that is no Cypher of the small kind gives no triplets: the method goes on with vectors alone. The faults are
    kept in the trace. The default strictness is the one with which the published figures were reached (table 18).
    """

    backend: ClassVar[str] = "language model"

    language_model: LanguageModel
    schema: Schema
    nodes: str = option(
        _STRICT,
        "strict: types restrict possible answers, and triplets with an unknown label are dropped; "
        "lenient: labels restrict only the answers.",
        choices=(_STRICT, _LENIENT),
    )
    edges: str = option(
        _LENIENT,
        "strict: relations must be those of the query, and triplets with an unknown one are dropped; "
        "lenient: any relation joins two symbols.",
        choices=(_STRICT, _LENIENT),
    )
    properties: str = option(
        "join",
        "join: conditions are applied, and what cannot be applied joins the name that is searched; "
        "strict: unknown properties are dropped; lenient: only names count.",
        choices=("join", _STRICT, _LENIENT),
    )
    concealed: str = option("", "Names of types that the language model is not shown, separated by commas.")
    listed: bool = option(False, "Whether the prompt lists the properties of each type.")
    guesses: bool = option(
        False, "Whether triplets are taken from a plan, listed without a model, that its planner does not trust."
    )
    rounds: int = option(0, "How often the model may correct the faults of its query.", low=0, high=2)
    seconds: float = option(
        10.0, "Time limit of the language model for the query, in seconds.", low=0.1, high=300, public_high=15
    )

    def __call__(self, question: Question, labels: Sequence[str], limit: Limit) -> WrittenTriplets:
        """Return the triplets that the model writes; see TripletStage."""
        limit.check(STAGE)
        if not self.language_model.configured():
            raise NoModel(STAGE, NO_MODEL, permanent=True)
        prompts = self._prompts
        answers = ask(
            self.language_model, [prompts.cypher(question.text, labels)], self._faultless, limit,
            seconds=self.seconds, share=TIME_SHARE, rounds=self.rounds, repair=prompts.repair,
        )  # fmt: skip
        [answer] = answers
        if answer.error is not None and not answer.text:
            raise NoModel(STAGE, answer.error.reason, permanent=answer.error.permanent)
        return self._written(answer, answers.tokens, answers.prompt_fingerprint)

    def of_plan(self, plan: Plan) -> WrittenTriplets:
        """Return the triplets of a plan; nothing in it is left to interpretation, so strictness has no meaning here.

        A plan whose risk level is `no_trade` gives none, unless `guesses` is set: its planner does not trust it itself.
        """
        if plan.risk_level == "no_trade" and not self.guesses:
            return WrittenTriplets("The plan is no more than a guess, so no triplets are taken from it.")
        query, left_out = triplets_of(plan)
        return WrittenTriplets(" ".join([f"{query.text()}.", *left_out]), query=query)

    @cached_property
    def _prompts(self) -> AutofocusPrompts:
        return AutofocusPrompts(self.schema, self._hidden, self.listed)

    @property
    def _hidden(self) -> list[str]:
        return [name.strip() for name in self.concealed.split(",") if name.strip()]

    def _read(self, reply: str) -> tuple[str, CheckedQuery]:
        """Return the query's text and its usable part. Raises CypherUnreadable."""
        text = cypher_in(reply)
        strict = Strictness(self.nodes == _STRICT, self.edges == _STRICT, self.properties)
        return text, checked_query(read_cypher(text), self.schema, strict, self._hidden)

    def _faultless(self, reply: str) -> CheckedQuery:
        """Return the query of a reply; a reader of `ask`. Raises Unusable with all faults, so that they are mended."""
        try:
            _, checked = self._read(reply)
        except CypherUnreadable as error:
            raise Unusable(*_faults(error.faults)) from None
        if checked.faults:
            raise Unusable(*_faults(checked.faults))
        return checked

    def _written(self, answer: AskedAnswer[CheckedQuery], tokens: dict[str, int], version: str) -> WrittenTriplets:
        """Return what of the last reply can be used."""
        try:
            text, checked = self._read(answer.text)
        except CypherUnreadable as error:
            sentence = (
                f"The language model's Cypher cannot be read, so vectors alone answer. {in_sentences(error.faults)}"
            )
            faults = tuple(fault.sentence for fault in error.faults)
            return WrittenTriplets(
                sentence, "degraded", tokens, version, cypher=cypher_in(answer.text)[:4_000], faults=faults
            )
        again = ("", " The model was shown its faults once.", " The model was shown its faults twice.")[
            answer.rounds - 1
        ]
        detail = f"{checked.query.text()}.{again}" if checked.query.target else "No triplets."
        if not checked.faults:
            return WrittenTriplets(detail, "ok", tokens, version, query=checked.query, cypher=text)
        faults = tuple(fault.sentence for fault in checked.faults)
        return WrittenTriplets(
            f"{detail} {in_sentences(checked.faults)}", "degraded", tokens, version, checked.query, text, faults
        )


def _faults(faults: Sequence[CypherFault]) -> list[Fault]:
    return [Fault("", fault.sentence) for fault in faults]
