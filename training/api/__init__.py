"""The API of training: question sets and evaluations. It is for staff."""
