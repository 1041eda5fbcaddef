"""The fits of one training of the retriever: synthesised questions, the folds of the real ones, then all of them.

The folds are learned side by side, pass by pass. After each pass every question is searched by the retriever that has
not learned from it; the pass with the best mean reciprocal rank decides how many passes the whole set gets.
"""

from __future__ import annotations

import hashlib
import io
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.numpy import save
from torch import Tensor

from search.domain.errors import StageError
from search.domain.run_context import RunContext
from search.neural.field_members import joined
from search.neural.field_retriever import RetrieverShape, base_tower, new_net
from training.learning.encoder_lists import RETRIEVED, refuse_unretrieved
from training.learning.plan_files import folds_of_hashes
from training.learning.retriever_best import Best, Ranks, Weights, best_of, bytes_tensor, kept_of
from training.learning.retriever_data import RetrieverLesson, RetrieverNodes
from training.learning.retriever_fit import Diverged, FitSettings, Indices, Trainer, mean_ranks
from training.learning.retriever_settings import RetrieverSettings
from training.learning.task import FOLDS, LearnedTask

HELD_OUT = 10
"""Without real questions, one of this number of synthesised questions is only measured."""
STEPS_A_PART = 50
"""A pass over thousands of synthesised questions takes minutes, so it has parts, with checkpoints between."""
SAVED_EVERY = 45.0
"""Seconds between checkpoints; those of three folds have some hundred megabytes if the model is trained, too."""
AFTER = 0.5
"""Factor of the rate for real questions that come after synthesised ones."""
LEARN, FOLD, ALL = "synthesised questions", "folds", "all questions"
Starts = Sequence[Sequence[Tensor]]
"""The first weights of each member."""


@dataclass(frozen=True, eq=False)
class LearnedRetriever(LearnedTask):
    """The retriever and, for measuring, the ranks of the answers: cross-fitted (`ranks`) and untrained (`before`)."""

    ranks: Ranks
    before: Ranks
    told: dict[str, Any]


@dataclass(frozen=True, eq=False)
class RetrieverFitting:
    """The fits of one training, one after the other."""

    settings: RetrieverSettings
    shape: RetrieverShape
    encoder: str
    nodes: RetrieverNodes
    device: str
    run: RunContext
    after_synthesised: bool = False
    """Whether the real questions come after synthesised ones."""

    def alone(self, made: RetrieverLesson) -> LearnedRetriever:
        """Return the retriever that learned from synthesised questions only; some of them are held out and measured."""
        places = np.arange(len(made))
        held = [one for at, one in enumerate(made.asked) if at % HELD_OUT == 0]
        members = self._members(len(places))
        before = mean_ranks(members[:1], held, self.run.check)
        self._parts(members, made, places[places % HELD_OUT != 0])
        after = mean_ranks(members, held, self.run.check)
        told = {
            "synthesised": len(made), "questions": 0, "members": len(members),
            "measured": "synthesised questions that were held out",
        }  # fmt: skip
        return LearnedRetriever(self._weights(members), self._served([]), {}, after, before, told)

    def both(self, made: RetrieverLesson, real: RetrieverLesson, folds: Indices) -> LearnedRetriever:
        """Return the retriever that learned from synthesised questions, if there are any, and then from real ones."""
        first = self._members(len(made))
        before = mean_ranks(first[:1], real.asked, self.run.check)
        _refuse_unretrieved(before, len(self.nodes))
        self._parts(first, made, np.arange(len(made)))
        start = [member.weights for member in first]
        best = self._folds(start, real, folds)
        whole = self._whole(start, real, best.passes)
        files = {f"fold-{fold}.safetensors": save(weights) for fold, weights in enumerate(best.weights)}
        told = {
            "synthesised": len(made), "questions": len(real), "folds": len(files), "passes": best.passes,
            "members": len(first),
            "measured": "real questions, each by the retriever that has not learned from it",
        }  # fmt: skip
        every = {**files, FOLDS: folds_of_hashes(real.examples, folds)}
        return LearnedRetriever(self._weights(whole), self._served(list(files)), every, best.ranks, before, told)

    def _parts(self, members: Sequence[Trainer], made: RetrieverLesson, chosen: Indices) -> None:
        """Learn from synthesised questions, part by part; the members learn side by side, each in its own order."""
        each = STEPS_A_PART * self.settings.batch
        parts: list[list[Indices]] = []
        for number in range(self.settings.passes if len(chosen) else 0):
            orders = [np.random.default_rng((member.seed, 1, number)).permutation(chosen) for member in members]
            parts += [[order[at : at + each] for order in orders] for at in range(0, len(chosen), each)]
        key = self._key("synthesised", made, chosen)
        done = self._loaded(key, members)["done"]
        saved = time.monotonic()
        for number, own in enumerate(parts[done:], done):
            self.run.report(LEARN, number, len(parts))
            try:
                losses = [
                    member.one_pass(made.asked, part, number, made.names, self.run.check)
                    for member, part in zip(members, own, strict=True)
                ]
            except Diverged as error:
                self._stopped(error, number > 0)
                return
            self.run.metric("loss, synthesised questions", number + 1, float(np.mean(losses)))
            if time.monotonic() - saved > SAVED_EVERY or number + 1 == len(parts):
                self._save(key, members, {"done": number + 1})
                saved = time.monotonic()
        self.run.report(LEARN, len(parts), len(parts))

    def _folds(self, start: Starts, real: RetrieverLesson, folds: Indices) -> Best:
        """Return the best pass of the folds."""
        count, passes = int(folds.max()) + 1, self._passes(len(real))
        mine = [np.flatnonzero(folds != fold) for fold in range(count)]
        trainers = [self._members(passes * len(chosen), start, passes) for chosen in mine]
        every = [member for members in trainers for member in members]
        key = self._key("folds", real, folds, start)
        kept = self._loaded(key, every)
        best, saved = best_of(kept), time.monotonic()
        for number in range(kept["done"], passes):
            if best.passes and number - best.passes >= self.settings.patience:
                break
            try:
                losses = []
                for fold, (members, chosen) in enumerate(zip(trainers, mine, strict=True)):
                    self.run.report(FOLD, number * count + fold, passes * count)
                    losses += self._pass(members, real, chosen, number)
            except Diverged as error:
                self._stopped(error, best.passes > 0)
                break
            self._measure(best, number + 1, trainers, real, folds)
            self.run.metric("loss, folds", number + 1, float(np.mean(losses)))
            if time.monotonic() - saved > SAVED_EVERY or number + 1 == passes:
                self._save(key, every, {"done": number + 1, **kept_of(best)})
                saved = time.monotonic()
        self.run.report(FOLD, passes * count, passes * count)
        return best

    def _pass(self, members: Sequence[Trainer], real: RetrieverLesson, chosen: Indices, number: int) -> list[float]:
        """Learn from the chosen real questions once, and return each member's loss."""
        return [member.one_pass(real.asked, chosen, number, real.names, self.run.check) for member in members]

    def _measure(
        self, best: Best, passes: int, trainers: Sequence[Sequence[Trainer]], real: RetrieverLesson, folds: Indices
    ) -> None:
        """Search each question by the retriever that has not learned from it; keep the pass if it is the best."""
        ranks: Ranks = [np.empty(0, dtype=np.int64)] * len(real)
        for fold, members in enumerate(trainers):
            own = np.flatnonzero(folds == fold).tolist()
            found = mean_ranks(members, [real.asked[at] for at in own], self.run.check)
            for at, ranked in zip(own, found, strict=True):
                ranks[at] = ranked
        figures = measures(ranks)
        for name, value in figures.items():
            self.run.metric(f"{name}, folds", passes, value)
        if figures["MRR"] > best.figure:
            best.passes, best.figure, best.ranks = passes, figures["MRR"], ranks
            best.weights = [self._weights(members) for members in trainers]

    def _whole(self, start: Starts, real: RetrieverLesson, passes: int) -> list[Trainer]:
        """Return the members that learned from all real questions, in this number of passes."""
        most = self._passes(len(real))
        members = self._members(most * len(real), start, most)
        key = self._key("whole", real, np.arange(passes), start)
        done, saved = self._loaded(key, members)["done"], time.monotonic()
        for number in range(done, passes):
            self.run.report(ALL, number, passes)
            try:
                losses = self._pass(members, real, np.arange(len(real)), number)
            except Diverged as error:
                self._stopped(error, number > 0)
                break
            self.run.metric("loss, all questions", number + 1, float(np.mean(losses)))
            if time.monotonic() - saved > SAVED_EVERY or number + 1 == passes:
                self._save(key, members, {"done": number + 1})
                saved = time.monotonic()
        self.run.report(ALL, passes, passes)
        return members

    def _passes(self, questions: int) -> int:
        """Return the most passes over the real questions."""
        settings = self.settings
        return max(1, min(settings.epochs, settings.steps * settings.batch // questions))

    def _members(self, questions: int, start: Starts = (), passes: int = 0) -> list[Trainer]:
        """Return a trainer of each seed for this number of questions in all passes together."""
        return [
            self._trainer(questions, start[at] if len(start) else (), passes, self.settings.seed + at)
            for at in range(self.settings.seeds)
        ]

    def _trainer(self, questions: int, start: Sequence[Tensor], passes: int, seed: int) -> Trainer:
        settings = self.settings
        sample = settings.sample if len(self.nodes) > settings.nodes else 0
        # After synthesised questions, real ones only refine.
        slower = AFTER if len(start) and self.after_synthesised else 1.0
        how = FitSettings(
            settings.batch,
            settings.rate * slower,
            settings.layers,
            settings.layer_rate,
            settings.weight_rate * slower,
            sample,
            settings.dropout,
            seed,
            self.device,
        )
        if passes:
            steps = passes * -(-(questions // passes) // settings.batch)
        else:
            steps = settings.passes * -(-questions // settings.batch)
        net = new_net(self.encoder, self.shape, own_tower=settings.layers > 0)
        trainer = Trainer(net, self.nodes, how, steps)
        if len(start):
            trainer.weights = start
        return trainer

    def _weights(self, members: Sequence[Trainer]) -> Weights:
        return joined([one.net.changed(base_tower(self.encoder), self.settings.layers) for one in members])

    def _served(self, folds: list[str]) -> dict[str, Any]:
        """Return the description that `LearnedFieldRetriever` reads together with the weights."""
        return {
            "encoder": self.encoder, "lists": self.shape.lists, "dense": self.shape.dense, "types": self.shape.types,
            "start": self.shape.start, "layers": self.settings.layers, "folds": folds,
        }  # fmt: skip

    def _stopped(self, error: Diverged, usable: bool) -> None:
        """Log that a fit has stopped at its last good pass. Raises StageError if it has none."""
        if not usable:
            reason = f"{error} There is no earlier pass to fall back to; lower the rate"
            raise StageError("retriever", reason, permanent=True) from error
        self.run.log(f"{error} Learning stopped at the pass before.")

    def _key(self, name: str, lesson: RetrieverLesson, chosen: Indices, start: Starts = ()) -> str:
        """Return the name of a fit's checkpoint; other questions, lists, settings or first weights give another."""
        content = hashlib.blake2b(repr((name, self.settings, self.shape, self.encoder)).encode(), digest_size=8)
        content.update(np.asarray(chosen).tobytes())
        for one in lesson.asked:
            content.update(
                repr(one.tokens).encode() + one.answers.tobytes() + one.keys.tobytes() + one.scores.tobytes()
            )
        for tensor in (tensor for weights in start for tensor in weights):
            content.update(tensor.cpu().numpy().tobytes())
        return f"retriever-{content.hexdigest()}"

    def _save(self, key: str, trainers: Sequence[Trainer], more: dict[str, Any]) -> None:
        content = io.BytesIO()
        torch.save({**more, "states": [bytes_tensor(trainer.state()) for trainer in trainers]}, content)
        self.run.checkpoints.save(key, content.getvalue())

    def _loaded(self, key: str, trainers: Sequence[Trainer]) -> dict[str, Any]:
        """Restore the trainers from a checkpoint, and return what was saved with them."""
        if (saved := self.run.checkpoints.load(key)) is None:
            return {"done": 0}
        found: dict[str, Any] = torch.load(io.BytesIO(saved), weights_only=True)
        for trainer, state in zip(trainers, found["states"], strict=True):
            trainer.restore(state.numpy().tobytes())
        return found


def _refuse_unretrieved(before: Ranks, nodes: int) -> None:
    """Raise TooFew if the untrained retriever finds no answer of any question among its first results."""
    best = [int(own[0]) for own in before]
    where = f"the first {RETRIEVED} of {nodes:,} nodes by all fields (the best is on place {min(best):,})"
    refuse_unretrieved(sum(rank <= RETRIEVED for rank in best), len(best), where)


def measures(ranks: Sequence[NDArray[np.int64]]) -> dict[str, float]:
    """Return H@1, H@5, R@20 and MRR in percent; `ranks` holds each question's answers' ranks, ascending."""
    if not ranks:
        return {}
    first = np.array([own[0] for own in ranks])
    recall = np.array([(own <= 20).mean() for own in ranks])
    reciprocal = np.where(first <= 100, 1 / first, 0)
    values = {"H@1": first == 1, "H@5": first <= 5, "R@20": recall, "MRR": reciprocal}
    return {name: round(100 * float(np.mean(value)), 2) for name, value in values.items()}
