"""Signals: numbers that say how well a candidate fits a question, for a ranker that learned what they are worth.

Training and searches compute them by the same code. The names are part of the trained artifacts.
"""
