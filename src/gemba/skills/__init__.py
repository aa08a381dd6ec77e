"""Agent skills: Markdown with front matter that tells an agent how to work, and the linter that keeps them honest."""
