"""The built-in advisor: answers epic_order without a model, by rule. Everything in here is pure and deterministic."""
