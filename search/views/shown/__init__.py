"""Turns the JSON of `describe_search` into small frozen values that templates only have to print."""
