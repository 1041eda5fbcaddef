"""Names and language of a question, for any pipeline: mentions, words, quantities, and what the schema calls them."""
