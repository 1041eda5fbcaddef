"""Turns reports and outcomes into what templates show: text, widths and coordinates."""
