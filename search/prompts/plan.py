"""The prompt that turns a question into a plan (GRASP, appendix on prompts: the same slots, new wording)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from search.domain.conversation import Message, Prompt
from search.domain.errors import Fault
from search.domain.graph import ANY
from search.domain.plan.json_schema import plan_json_schema
from search.prompts.briefing import Briefing
from search.prompts.examples import PromptExample, chosen_examples, read_prompt_examples
from search.prompts.files import PromptFiles, fingerprint
from search.prompts.metapaths import metapath_lines

GENERIC = "generic"
MODE_KEY = "`retrieval_mode`"
SHOWN_ANSWER = 8_000
"""Characters of a faulty answer that the repair prompt repeats."""


@dataclass(frozen=True)
class PlanPrompts:
    """Prompts for planning over one knowledge base: for a question, and for the repair of a faulty plan."""

    briefing: Briefing
    files: PromptFiles = field(default_factory=PromptFiles)

    def ask(self, question: str, *, temperature: float = 0.0, sample: int = 0) -> Prompt:
        """Return the prompt for a question; `sample` distinguishes prompts whose answers are drawn separately."""
        asked = self.files.render("plan/question.md", question=" ".join(question.split()))
        return Prompt(
            messages=(Message("system", self.system), Message("user", asked)),
            version=self.version,
            json_schema=plan_json_schema(self.briefing.schema, retrieval_modes=self.retrieval_modes),
            temperature=temperature,
            sample=sample,
        )

    def repair(self, prompt: Prompt, answer: str, faults: Sequence[Fault]) -> Prompt:
        """Return the conversation continued by the model's answer and its faults with their JSON pointers."""
        listed = "\n".join(f"- at {fault.pointer or 'the plan as a whole'}: {fault.message}" for fault in faults[:20])
        repair = self.files.render("plan/repair.md", faults=listed)
        return prompt.then(Message("assistant", answer[:SHOWN_ANSWER] or "{}"), Message("user", repair))

    @property
    def guidance_name(self) -> str:
        """The name of the guidance: that of the domain, `own` if the knowledge base has its own, or `generic`."""
        if self.briefing.guidance.strip():
            return "own"
        domain = "".join(c for c in self.briefing.domain.casefold() if c.isalnum() or c in "_-")
        return domain if f"plan/guidance/{domain}.md" in self.files else GENERIC

    @property
    def structure(self) -> str:
        """What a plan consists of; that edges have fields is told where they have some."""
        edges = self.files.text("plan/edges.md") if self.briefing.schema.edge_fields(ANY) else ""
        return self.files.text("plan/structure.md") + edges

    @cached_property
    def guidance(self) -> str:
        """The text of the guidance."""
        if self.guidance_name == "own":
            return self.briefing.guidance.strip()
        return self.files.text(f"plan/guidance/{self.guidance_name}.md")

    @property
    def retrieval_modes(self) -> bool:
        """Whether plans have the key `retrieval_mode`: they do if the guidance mentions it."""
        return MODE_KEY in self.guidance

    @cached_property
    def examples(self) -> list[PromptExample]:
        """The worked examples that fit the schema."""
        name = f"plan/examples/{self.guidance_name}.json"
        written = read_prompt_examples(self.files.text(name), name, self.briefing.schema) if name in self.files else []
        return chosen_examples(written, self.briefing)

    @cached_property
    def system(self) -> str:
        """The system message; what is the same for every knowledge base comes first, so that servers reuse it.

        Role, plan structure and risk, then schema, guidance, metapaths and examples.
        """
        briefing = self.briefing
        return self.files.render(
            "plan/system.md",
            role=self.files.text("plan/role.md"),
            about=briefing.about(),
            schema=self.files.render(
                "plan/schema.md",
                types=briefing.type_lines(),
                relations=briefing.relation_lines(),
            ),
            structure=self.structure,
            guidance=self.guidance,
            metapaths=metapath_lines(briefing),
            risk=self.files.text("plan/risk.md"),
            examples="\n\n".join(example.text() for example in self.examples),
        )

    @cached_property
    def version(self) -> str:
        """Hash of everything except the question: it changes with a file, the schema, the guidance or the names."""
        schema = json.dumps(
            plan_json_schema(self.briefing.schema, retrieval_modes=self.retrieval_modes), sort_keys=True
        )
        return fingerprint(self.system, self.files.text("plan/question.md"), self.files.text("plan/repair.md"), schema)
