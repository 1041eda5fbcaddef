"""Who asks, and how much they may: visitors, tokens, limits, signing in."""
