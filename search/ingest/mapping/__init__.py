"""Plain files as a knowledge base: the mapping of their columns, its guess, and the conversion of their rows."""
