"""What the engines that execute plans share: the order of hops, what a walk costs, and matches as paths."""
