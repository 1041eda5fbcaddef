"""The prompt that makes a language model write a retrieval plan in one call (SAGE, section 2.2 A: SPARK)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from search.domain.conversation import Message, Prompt
from search.domain.plan.json_schema import plan_json_schema
from search.prompts.examples import PromptExample
from search.prompts.files import PromptFiles, fingerprint
from search.prompts.plan import PlanPrompts

PURPOSE = "spark"
SEARCH, TYPES, PLAN = "search", "types", "plan"


@dataclass(frozen=True)
class SparkPrompts:
    """Prompts of SPARK over one knowledge base; structure, guidance and examples of plans are those of `PlanPrompts`.

    Everything but the question stands in the system message, so that servers reuse what they computed for it.
    """

    of_plans: PlanPrompts
    files: PromptFiles = field(default_factory=PromptFiles)

    def ask(self, question: str) -> Prompt:
        """Return the prompt for a question."""
        asked = self.files.render("spark/question.md", question=" ".join(question.split()))
        return Prompt(
            messages=(Message("system", self.system), Message("user", asked)),
            version=self.version,
            purpose=PURPOSE,
            json_schema=self.json_schema,
        )

    @cached_property
    def system(self) -> str:
        """The system message: role, schema, the answer's parts, the plan language, guidance, examples."""
        briefing = self.of_plans.briefing
        return self.files.render(
            "spark/system.md",
            about=briefing.about(),
            schema=self.files.render(
                "plan/schema.md", types=briefing.type_lines(), relations=briefing.relation_lines()
            ),
            structure=self.of_plans.structure,
            guidance=self.of_plans.guidance,
            examples="\n\n".join(written(example) for example in self.of_plans.examples),
        )

    @cached_property
    def json_schema(self) -> dict[str, Any]:
        """The answer as a JSON schema over the names of this knowledge base."""
        plan = plan_json_schema(self.of_plans.briefing.schema, retrieval_modes=self.of_plans.retrieval_modes)
        return {
            "type": "object",
            "properties": {
                SEARCH: {"type": "string"},
                TYPES: plan["properties"]["target"]["properties"]["labels"],
                PLAN: {"anyOf": [plan, {"type": "null"}]},
            },
            "required": [SEARCH, TYPES, PLAN],
            "additionalProperties": False,
        }

    @cached_property
    def version(self) -> str:
        """Hash of everything except the question."""
        schema = json.dumps(self.json_schema, sort_keys=True)
        return fingerprint(self.system, self.files.text("spark/question.md"), schema)


def written(example: PromptExample) -> str:
    """Return an example with its retrieval plan: a plan without anchors and conditions is a search alone."""
    plan = example.plan
    searched = plan.target.relevance_text or ("" if plan.anchors else example.question)
    alone = not plan.anchors and not plan.runs_over_type
    answer = {SEARCH: searched, TYPES: list(plan.target.labels), PLAN: None if alone else plan.to_json()}
    return f"Question: {example.question}\nAnswer: {json.dumps(answer, ensure_ascii=False)}"
