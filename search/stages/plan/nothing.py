"""When nothing is the answer: the reading that says everything the question says, and that no node meets.

A reading that leaves a condition out finds more, and answers another question. So nothing is the answer, unless the
reading of a condition is doubtful: then the same words may mean something that is there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from search.language.names import Named
from search.stages.plan.conditions.paths import walked_against
from search.stages.plan.meaning import Meaning
from search.stages.plan.readings import Readings

_RIVAL = 4.0
"""By how much such a reading must be ahead of every other one that says everything and finds something."""
_BEHIND = 4.0
"""By how much it may be behind a reading that leaves something out."""
_FITS = 0.75
"""Least fit of its conditions."""
NAMED = 0.9
"""Least similarity of its names: inflected or joined ones count, parts of names and soft names do not."""
_TRIED = 8
"""Most readings that are tried on the graph."""


@dataclass(frozen=True)
class Nothing:
    """Finds the reading of a question that is an answer although it finds nothing.

    `finds_nothing` says whether no node meets a reading; it may ask the engine.
    """

    readings: Readings
    finds_nothing: Callable[[Meaning], bool]

    def of(self, meanings: Sequence[Meaning]) -> Meaning | None:
        """Return that reading; None if there is none. `meanings` are all readings, the best first."""
        if not meanings or any(one.is_whether for one in meanings):
            # What is asked of two names with yes or no has an answer of its own.
            return None
        least, strayed = meanings[0].total - _BEHIND, False
        for tried, one in enumerate(self._whole(meanings)):
            if one.total < least or one.candidate is None or tried == _TRIED:
                return None
            if not self.finds_nothing(one):
                if not self._strays(one):
                    return None
                strayed = True
            elif not self._is_doubtful(one) and not (strayed and self._strays(one)):
                return None if self._has_rival(one, meanings) else one
        return None

    def _strays(self, meaning: Meaning) -> bool:
        """Whether a walk of several hops has one that nothing says: neither its relation nor the type it leads to.

        So does one that walks a relation against the direction that is said.
        """
        if meaning.candidate is None:
            return False
        question, known = self.readings.question, self.readings.knowledge
        return bool(walked_against(question, known, meaning.candidate)) or self.readings.strays(meaning.candidate)

    def _whole(self, meanings: Iterable[Meaning]) -> Iterator[Meaning]:
        """Yield the readings that leave no word, no name and no cue over; that of the text is among them.

        What a reading leaves is worked out only when its turn comes: mostly the first one settles the matter.
        """
        return (one for one in meanings if not one.bound.unbound and not self.readings.left(one))

    def _is_doubtful(self, meaning: Meaning) -> bool:
        """Whether one of its names or conditions may as well mean something else."""
        names = self._names(meaning)
        return any(one.mention.similarity < NAMED for one in names) or any(
            one.score < _FITS for one in meaning.bound.conditions
        )

    def _names(self, meaning: Meaning) -> list[Named]:
        used = {at for one in meaning.bound.conditions for at in one.names}
        used |= set(meaning.candidate.mentions) if meaning.candidate is not None else set()
        return [self.readings.question.names[at] for at in sorted(used)]

    def _has_rival(self, meaning: Meaning, meanings: Sequence[Meaning]) -> bool:
        """Whether another reading that says everything is about as likely and finds something.

        A longer walk that no word says is none.
        """
        near = (one for one in meanings if meaning.total - _RIVAL < one.total <= meaning.total)
        others = [one for one in self._whole(near) if one is not meaning and one.candidate is not None]
        said = [one for one in others if self._strays(meaning) or not self._strays(one)]
        return any(not self.finds_nothing(one) for one in said[:_TRIED])
