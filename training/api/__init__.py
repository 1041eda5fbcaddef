"""The API of training: question sets, and evaluations with their reports and outcomes. It is for staff."""
