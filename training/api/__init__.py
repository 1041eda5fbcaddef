"""The API of training: evaluations with their reports and outcomes. It is for staff."""
