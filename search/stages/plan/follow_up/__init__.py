"""Reading a question that follows another search: its words change the plan that was shown (docs/planning.md)."""
