"""Examples to learn from and to measure on: questions with their answers."""
