"""The API of training: question sets, and evaluations with their reports and outcomes. Rights decide who may use it."""
