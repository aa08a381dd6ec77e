"""Role-specs: what a role of a team works on, in Markdown; one validator for the linter and the coordinator."""
