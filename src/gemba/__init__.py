"""Gemba: the operator's floor for teams of coding agents.

Nothing is imported here: `gemba-ask` pays for every module that this one would load.
"""

__version__ = "0.1.0"
