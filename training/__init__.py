"""Improves the answers: data, learning, evaluation and annotation."""
