"""Every kind of prompt of the site, over a small shop: what tests of all prompts go through.

A method that brings a prompt adds a row: a function question → prompt.
"""

from __future__ import annotations

from collections.abc import Callable

from search.domain.conversation import Prompt
from search.domain.errors import Fault
from search.prompts import Briefing, PlanPrompts
from search.prompts.annotation import AnnotationPrompts
from search.prompts.autofocus import AutofocusPrompts, JudgePrompts
from search.prompts.expansion import ExpansionPrompts, entities_schema
from search.prompts.spark import SparkPrompts
from search.prompts.written import WrittenPrompts
from tests.search.domain.shop import SHOP

NAMES = {
    "product": ("Rain Jacket", "Lantern"), "brand": ("Brannholt", "Tessaly"), "country": ("Norway", "Portugal"),
    "field_of_use": ("rain", "caving"), "city": ("Bergen", "Braga"),
}  # fmt: skip
PLANS = PlanPrompts(Briefing(SHOP, "The shop", "Things for outdoors.", names=NAMES))
CYPHER = AutofocusPrompts(SHOP)
JUDGES = JudgePrompts()
EXPANSION = ExpansionPrompts(SHOP)
DESCRIBED = ("product Rain Jacket. It folds into its own pocket.", "product Lantern. It can be hung up.")


def repaired_plan(question: str) -> Prompt:
    return PLANS.repair(PLANS.ask(question), "{}", [Fault("/hops", "There are none.")])


def repaired_cypher(question: str) -> Prompt:
    return CYPHER.repair(CYPHER.cypher(question, ["product"]), "{}", [Fault("/cypher", "It is missing.")])


KINDS: dict[str, Callable[[str], Prompt]] = {
    "plan": PLANS.ask,
    "repair of a plan": repaired_plan,
    "target type": lambda question: CYPHER.target(question, ["product", "brand"]),
    "cypher": lambda question: CYPHER.cypher(question, ["product"]),
    "repair of cypher": repaired_cypher,
    "pointwise judge": lambda question: JUDGES.point(question, DESCRIBED[0]),
    "listwise judge": lambda question: JUDGES.list(question, DESCRIBED),
    "pairwise judge": lambda question: JUDGES.pair(question, *DESCRIBED),
    "spark": SparkPrompts(PLANS).ask,
    "hyde": lambda question: EXPANSION.ask("hyde", question)[0],
    "rar": lambda question: EXPANSION.ask("rar", question, documents=DESCRIBED[0])[0],
    "keywords": lambda question: EXPANSION.ask("keywords", question)[0],
    "analysis": lambda question: EXPANSION.ask("analysis", question, keywords="rain, jacket")[0],
    "draft": lambda question: EXPANSION.ask("draft", question, analysis="It asks for a product.")[0],
    "refine": lambda question: EXPANSION.ask("refine", question, candidates=DESCRIBED[0])[0],
    "annotation": lambda question: AnnotationPrompts("Grade 3 is a full answer.").judge(question, DESCRIBED[0]),
    "entities": lambda question: EXPANSION.entities(question, 5, entities_schema(SHOP, 5)),
    "written answer": lambda question: WrittenPrompts().reword(question, ["A answers this [1]."], ["[1] A: product"]),
    "kar": lambda question: EXPANSION.expand(question, DESCRIBED[0], 1, 0.0)[0],
}
