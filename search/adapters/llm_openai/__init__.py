"""Language models on any OpenAI-compatible server: vLLM, llama.cpp, Ollama, or a hosted service."""

from search.adapters.llm_openai.calls import Call, CallLog
from search.adapters.llm_openai.configured import ConfiguredLanguageModel, environment_server, server_of
from search.adapters.llm_openai.server import Server

__all__ = ["Call", "CallLog", "ConfiguredLanguageModel", "Server", "environment_server", "server_of"]
