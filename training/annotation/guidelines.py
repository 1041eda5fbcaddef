"""The default text of a queue's guideline page, by rule, in Markdown; whoever makes a queue may write another."""

from __future__ import annotations

from collections.abc import Mapping

from training.annotation.rules import DISAGREEMENT, FEEDBACK, LOST, MARGIN, RANDOM, SAVED, TASKS

GRADES: Mapping[int, str] = {
    3: "a full answer: it meets everything that the question asks",
    2: "a good answer: it meets what matters, with a small doubt",
    1: "near: it has to do with the question, but does not answer it",
    0: "no answer",
}
"""What each grade means. The key of a grade is the grade itself."""

_ALWAYS = """## How to grade

{grades}

Grade what the question asks, not what the search may have meant. Read the fields and relations in the middle of the
page; its own page in the knowledge base has all of them. You see neither which pipeline found the candidate nor at
which rank, nor which conditions the search finds met, nor what others say, so that none of this leans on your
judgement. What the search found is shown once you have judged.

**Unsure** is a judgement too: use it when the question can be read in two ways, or when what is shown does not
decide it. **Skip** gives the item to somebody else. Every judgement can be undone.

## What else to say

If the question was answered badly and you see why, choose a cause or the stage that lost the answer. Add answers that
are missing by their names. A note is read by whoever settles disagreements.
"""
_WHY: Mapping[str, str] = {
    LOST: """These questions were not answered: no expected answer stood first. The candidate is either an expected
answer that was lost or what stood first in its place. Expected answers may be wrong, and what was found may be right:
judge each as if you did not know which it is.""",
    DISAGREEMENT: """Pipelines disagree about these candidates: some have them at the top, others do not. Judge each on
its own.""",
    FEEDBACK: """People who searched said that these candidates are right, wrong or missing. They may be mistaken: judge
anew.""",
    MARGIN: """Between the first and the second result of these questions there was almost no difference in score. Judge
both with care; both may be right.""",
    RANDOM: """These candidates were drawn at random, good ones and bad ones. They show how good the answers are on the
whole, so judge them as strictly as any others.""",
    SAVED: """These are the first results of searches that somebody saved, good ones and bad ones, in no order. Judge
each on its own.""",
    TASKS: """These questions were chosen by whoever made the queue, with the results to judge or with what a search
found for them, in no order. Judge each on its own.""",
}


def default_guideline(rule: str) -> str:
    """Return the guideline that a queue of this rule starts with."""
    grades = "\n".join(f"- **{grade}** (key `{grade}`): {meaning}." for grade, meaning in GRADES.items())
    return f"{_WHY[rule]}\n\n{_ALWAYS.format(grades=grades)}".replace("\n\n\n", "\n\n")
