"""Shared by the engines that execute plans: the order of hops, cost estimates, and matches as paths."""
