"""Gallery: the real templates in every state that they can be in, with made-up data, for people who change the look."""
