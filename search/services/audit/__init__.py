"""The audit log: services note what somebody does, whichever door they came through."""
