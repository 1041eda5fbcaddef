"""Fits the trees of a ranker with LightGBM: LambdaMART on the candidates of each question."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from threading import Event

import lightgbm
import numpy as np
from numpy.typing import NDArray

from training.learning.ranker_settings import RankerSettings

Floats = NDArray[np.float32]
THREADS = 1
"""Trees are built by one thread: on a machine that also answers searches, several threads wait for each other so much
that a training took a hundred times as long."""

SIDE_BY_SIDE = 4
"""Fits at once at most, one for each processor: each holds the signals of its questions twice."""
SECONDS_BETWEEN_CHECKS = 0.5

BINS = 63
"""Values that a signal is divided into. With LightGBM's usual 255 a fit takes longer and ranks no better (prime-ibd,
cross-validated)."""


@dataclass(frozen=True, eq=False)
class Ranks:
    """The candidates of one question: their signals, shape (candidates, signals), and which are answers."""

    signals: Floats
    answers: NDArray[np.bool_]

    @property
    def teaches(self) -> bool:
        """Whether there is an answer and another candidate; otherwise no order is better than another."""
        return bool(self.answers.any()) and not bool(self.answers.all())


class _Stopped(Exception):
    """Another fit failed, or somebody ended the training."""


@dataclass(frozen=True, eq=False)
class RankerPart:
    """What one ranker learns from: questions that teach, and the number of its seeds."""

    questions: Sequence[Ranks]
    seeds: int


def fit_parts(
    parts: Sequence[RankerPart], how: RankerSettings, done: Callable[[int], None]
) -> list[list[lightgbm.Booster]]:
    """Return the models of each part. Parts are fitted side by side, those with most to do first.

    LightGBM works outside the interpreter's lock, so threads suffice. `done` is called here with the number of parts
    that are ready, twice a second at least, and raises an exception when the training must stop.
    """
    stop = Event()

    def stop_if_ended() -> None:
        if stop.is_set():
            raise _Stopped

    first = sorted(range(len(parts)), key=lambda at: -parts[at].seeds * len(parts[at].questions))
    with ThreadPoolExecutor(min(SIDE_BY_SIDE, len(os.sched_getaffinity(0)))) as pool:
        fits = {at: pool.submit(fit_trees, parts[at].questions, how, parts[at].seeds, stop_if_ended) for at in first}
        try:
            pending = set(fits.values())
            while pending:
                ended, pending = wait(pending, SECONDS_BETWEEN_CHECKS, FIRST_COMPLETED)
                for fit in ended:
                    fit.result()
                done(len(fits) - len(pending))
        finally:
            # After a failure or a stop, the fits that run end at their next tree, and the others do not begin.
            stop.set()
            pool.shutdown(wait=False, cancel_futures=True)
    return [fits[at].result() for at in range(len(parts))]


def fit_trees(
    questions: Sequence[Ranks], how: RankerSettings, seeds: int, check: Callable[[], None]
) -> list[lightgbm.Booster]:
    """Return one model for each of `seeds` seeds, fitted to questions that teach. The same seed gives the same trees.

    `check` is called before each tree and raises an exception when the fit must stop.
    """
    data = lightgbm.Dataset(
        np.concatenate([one.signals for one in questions]),
        np.concatenate([one.answers for one in questions]).astype(np.int32),
        group=[len(one.answers) for one in questions],
        params={"verbose": -1, "num_threads": THREADS, "max_bin": BINS},
        free_raw_data=False,
    )

    def stop_if_asked(_: object) -> None:
        check()

    return [
        lightgbm.train(_parameters(how, how.seed + seed), data, how.rounds, callbacks=[stop_if_asked])
        for seed in range(seeds)
    ]


def mean_scores(models: Sequence[lightgbm.Booster], signals: Floats) -> NDArray[np.float64]:
    """Return the mean of the models' scores of some candidates."""
    several = np.array([model.predict(signals, num_threads=THREADS) for model in models], dtype=np.float64)
    scores: NDArray[np.float64] = several.mean(axis=0)
    return scores


def shares_of_gain(models: Sequence[lightgbm.Booster]) -> NDArray[np.float64]:
    """Return the share of each signal in what all splits of the trees gained."""
    gains = np.array([model.feature_importance("gain") for model in models], dtype=np.float64)
    shares: NDArray[np.float64] = gains.sum(axis=0) / max(float(gains.sum()), 1e-12)
    return shares


def _parameters(how: RankerSettings, seed: int) -> dict[str, object]:
    return {
        "objective": "lambdarank", "label_gain": [0, 1], "lambdarank_truncation_level": how.truncation,
        "learning_rate": how.rate, "num_leaves": how.leaves, "min_data_in_leaf": how.least,
        "feature_fraction": how.features, "bagging_fraction": how.bagging, "bagging_freq": 1, "lambda_l2": how.decay,
        "seed": seed, "deterministic": True, "force_row_wise": True, "num_threads": THREADS, "verbose": -1,
    }  # fmt: skip
