"""Fits the model of the answer's type (search.signals.answer_types) with scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix, hstack
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from search.interfaces import Vectors
from search.signals.answer_types import BUCKETS, AnswerTypes, bag

ITERATIONS = 200


def inputs(texts: Sequence[str], vectors: Vectors) -> csr_matrix:
    """Return the inputs of the model, one row for each question: its hashed words, then its vector."""
    bags = [bag(text) for text in texts]
    rows = np.repeat(np.arange(len(bags)), [len(found) for found, _ in bags])
    columns = np.concatenate([found for found, _ in bags])
    values = np.concatenate([value for _, value in bags])
    return hstack([csr_matrix((values, (rows, columns)), (len(bags), BUCKETS)), csr_matrix(vectors)]).tocsr()


def fit_types(read: csr_matrix, labels: NDArray[np.int64], names: Sequence[str], strength: float) -> AnswerTypes:
    """Return the model fitted to questions whose answers have the types `labels`, which are places in `names`.

    A single type needs no model: its probability is 1 for every question.
    """
    there = np.unique(labels)
    dimensions = read.shape[1] - BUCKETS
    if len(there) == 1:
        nothing = np.zeros((1, BUCKETS), dtype=np.float32)
        zeros = np.zeros((1, dimensions), dtype=np.float32)
        return AnswerTypes((names[int(there[0])],), nothing, zeros, np.zeros(1, dtype=np.float32))
    with warnings.catch_warnings():
        # A fit that ends early is good enough; it is measured on held-out questions.
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = LogisticRegression(C=strength, max_iter=ITERATIONS).fit(read, labels)
    weights, bias = fitted.coef_.astype(np.float32), fitted.intercept_.astype(np.float32)
    if len(there) == 2:
        # Of two classes, scikit-learn keeps the weights of the second one alone.
        weights, bias = np.concatenate([-weights / 2, weights / 2]), np.concatenate([-bias / 2, bias / 2])
    types = tuple(names[int(code)] for code in there)
    return AnswerTypes(types, weights[:, :BUCKETS].copy(), weights[:, BUCKETS:].copy(), bias)
