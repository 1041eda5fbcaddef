"""Every plan that the data has for the names of a question."""
