"""Questions in other languages, read word by word in the language of a knowledge base."""
