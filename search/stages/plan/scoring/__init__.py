"""Scores of how well each plan fits the words of a question."""
