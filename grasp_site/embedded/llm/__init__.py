"""A real language model for `make llm` and the tests: llama.cpp in this process, with Gemma 3 270M or another file."""
