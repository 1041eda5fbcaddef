"""What pages show of a search: JSON from `describe_search` → small frozen values that templates only have to print."""
