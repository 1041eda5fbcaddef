"""Asks a language model and reads its answers: the one way in which stages do both.

A stage that uses `ask` always gets an outcome for each prompt: a value, or a sentence that says why there is none. No
error of a server leaves this module, so the stage can go on without the model:

    answers = ask(self.language_model, prompts, json_by(SCHEMA), limit, seconds=self.seconds, rounds=1)
    if answers.said:
        ... the stage's own way without the model, with `answers.said` in its detail
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from search.domain.conversation import CACHED_CALLS, Completion, Message, Prompt
from search.domain.errors import DeadlineExceeded, Fault, InvalidRequest, StageError
from search.domain.model_reply import without_thinking
from search.domain.trace import Limit
from search.interfaces import LanguageModel
from search.prompts.files import PromptFiles
from search.prompts.reading import Reader, Unusable, fault_lines

T = TypeVar("T")
Repair = Callable[[Prompt, str, Sequence[Fault]], Prompt]
"""Prompt, the model's answer without its thinking, its faults → the prompt that asks for a correction."""
STAGE = "language model"
CUT = "length"
"""Finish reason with which a server marks an answer that it cut off."""
SHOWN_ANSWER = 8_000
"""Characters of a faulty answer that a repair prompt repeats."""
_files = PromptFiles()


@dataclass(slots=True)
class AskedAnswer(Generic[T]):
    """The outcome of one prompt: its value, or `said`, a sentence that says why there is none.

    `text` is the model's last answer, `rounds` counts how often it was asked. `error` is the error of the server if it
    gave no answer; `faults` are those of its last answer if that could not be read.
    """

    prompt: Prompt
    value: T | None = None
    text: str = ""
    rounds: int = 0
    error: StageError | None = None
    faults: tuple[Fault, ...] = ()

    @property
    def said(self) -> str:
        """Why there is no value, as a sentence; empty if there is one."""
        if self.error is not None:
            return f"{self.error.reason.rstrip('. ')}."
        if not self.faults:
            return ""
        times = "" if self.rounds == 1 else f", asked {self.rounds} times"
        return f"the language model gave no answer that can be used{times}: {Unusable(*self.faults[:1])}"


@dataclass(slots=True)
class Answers(Generic[T]):
    """The outcomes of several prompts, in their order, and what they cost.

    `tokens` and `prompt_fingerprint` have the form that the trace takes from the output of a stage.
    """

    answers: list[AskedAnswer[T]]
    tokens: dict[str, int] = field(default_factory=dict)
    prompt_fingerprint: str = ""

    def __iter__(self) -> Iterator[AskedAnswer[T]]:
        return iter(self.answers)

    @property
    def values(self) -> list[T | None]:
        """The values in the order of the prompts; None where there is none."""
        return [answer.value for answer in self.answers]

    @property
    def said(self) -> str:
        """Why values are missing, as one sentence to stand after a colon; empty if none is missing."""
        missing = [answer.said for answer in self.answers if answer.said]
        if len(self.answers) <= 1 or not missing:
            return "".join(missing)
        return f"{len(missing)} of {len(self.answers)} answers are missing; the first one: {missing[0]}"


def ask(
    language_model: LanguageModel,
    prompts: Sequence[Prompt],
    read: Reader[T],
    limit: Limit,
    *,
    seconds: float = float("inf"),
    share: float = 1.0,
    rounds: int = 0,
    repair: Repair | None = None,
) -> Answers[T]:
    """Ask for all prompts at once; return an outcome for each prompt.

    The model has `seconds`, but no more than the part `share`, in (0, 1], of the time that is left: what the stage and
    those after it do when it does not answer takes time too.

    `read` raises Unusable, or InvalidRequest, for an answer that it cannot use. Such an answer goes back to the model
    with its faults, at most `rounds` times; `repair` writes that prompt, by default from prompts/shared/repair.md.

    Raises SearchCancelled, and no other error of a search.
    """
    own = limit.share(share).at_most(seconds)
    given = own.remaining()
    answers: list[AskedAnswer[T]] = [AskedAnswer(prompt) for prompt in prompts]
    tokens: dict[str, int] = {}
    for turn in range(rounds + 1):
        waiting = [answer for answer in answers if answer.value is None and answer.error is None]
        if not waiting:
            break
        if turn:
            for answer in waiting:
                answer.prompt = (repair or repaired)(answer.prompt, without_thinking(answer.text), answer.faults)
        for answer, outcome in zip(waiting, _outcomes(language_model, waiting, own, given), strict=True):
            _take(answer, outcome, read)
            if isinstance(outcome, Completion):
                add_tokens(tokens, outcome.tokens)
                add_tokens(tokens, {CACHED_CALLS: 1} if outcome.cached else {})
    return Answers(answers, tokens, prompts[0].version if prompts else "")


def repaired(prompt: Prompt, answer: str, faults: Sequence[Fault]) -> Prompt:
    """Return the conversation continued by the model's answer and its faults."""
    said = _files.render("shared/repair.md", faults=fault_lines(faults))
    return prompt.then(Message("assistant", answer[:SHOWN_ANSWER] or "{}"), Message("user", said))


def _outcomes(
    language_model: LanguageModel, waiting: Sequence[AskedAnswer[T]], limit: Limit, given: float
) -> Sequence[Completion | StageError]:
    try:
        return language_model.complete([answer.prompt for answer in waiting], limit)
    except DeadlineExceeded:
        reason = f"the language model took longer than the {round(given, 1):g} seconds that it has"
        return [StageError(STAGE, reason)] * len(waiting)
    except StageError as error:
        return [error] * len(waiting)


def _take(answer: AskedAnswer[T], outcome: Completion | StageError, read: Reader[T]) -> None:
    """Put an outcome into the answer that waits for it."""
    answer.rounds += 1
    if isinstance(outcome, StageError):
        answer.error, answer.faults = outcome, ()
        return
    answer.text, answer.faults = outcome.text, ()
    try:
        answer.value = read(outcome.text)
    except (Unusable, InvalidRequest) as error:
        cut = [Fault("", "The answer was cut off for its length; write a shorter one.")]
        answer.faults = (*(cut if outcome.finish_reason == CUT else []), *error.faults)


def add_tokens(total: dict[str, int], more: Mapping[str, int]) -> None:
    """Add tokens to a total, by kind."""
    for kind, count in more.items():
        total[kind] = total.get(kind, 0) + count


def sentence(said: str) -> str:
    """Return what stands after a colon (`Answers.said`) as a sentence of its own."""
    return f"{said[:1].upper()}{said[1:]}"
