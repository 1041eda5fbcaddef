"""Small helpers of the templates."""
