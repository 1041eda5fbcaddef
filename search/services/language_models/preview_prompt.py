"""preview_prompt: the exact prompt with which a language model would be asked to plan a question."""

from __future__ import annotations

from typing import Any

from search.adapters.briefing_postgres import plan_prompts
from search.domain.errors import Fault, InvalidRequest
from search.models import KnowledgeBase

CHARACTERS_PER_TOKEN = 4


def preview_prompt(knowledge_base: KnowledgeBase, question: str) -> dict[str, Any]:
    """Return the messages with their version, the chosen guidance, and their approximate number of tokens.

    `{"messages": [{"role", "content"}], "version", "guidance", "examples", "json_schema", "characters", "tokens"}`; no
    model is called. Raises InvalidRequest if the knowledge base has no active release.
    """
    release = knowledge_base.active_release
    if release is None:
        message = f"{knowledge_base.name!r} has no active release; import it again, or activate one of its releases."
        raise InvalidRequest([Fault("/knowledge_base", message)])
    prompts = plan_prompts(release)
    prompt = prompts.ask(question)
    characters = sum(len(message.content) for message in prompt.messages)
    return {
        "messages": [message.to_json() for message in prompt.messages],
        "version": prompt.version,
        "guidance": prompts.guidance_name,
        "examples": len(prompts.examples),
        "json_schema": prompt.json_schema,
        "characters": characters,
        "tokens": characters // CHARACTERS_PER_TOKEN,
    }
