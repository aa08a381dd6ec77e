"""What is computed at a gate, a module a dimension. Each has facts of its own, so that a defect lowers one score."""
