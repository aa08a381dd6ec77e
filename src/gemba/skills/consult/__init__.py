"""Consult skills: typed jobs of an advisor. Each has an input, lines that it may answer with, rules that judge them.

Not the Markdown skills of `gemba.skills`, which agents follow. Everything in here is pure.
"""
