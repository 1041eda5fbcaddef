"""The lists of a retriever of fields (mFAR, 2024): which there are, and the scores of those without vectors.

The stage and its learner use the same code.
"""
