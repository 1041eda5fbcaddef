"""The first candidates in the order of a language model (AF-Retriever, section 3.2, step 8): three ways of asking."""

from search.stages.judge.listwise import JudgeListwise
from search.stages.judge.pairwise import JudgePairwise
from search.stages.judge.pointwise import JudgePointwise

__all__ = ["JudgeListwise", "JudgePairwise", "JudgePointwise"]
