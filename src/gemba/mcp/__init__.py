"""MCP: the tools that agents call, and the two ways in which they are served."""
