"""The language of a question, for any pipeline: names of nodes, words, quantities, and the words of the schema."""
