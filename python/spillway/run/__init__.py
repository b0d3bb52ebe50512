"""One run: whole, or step by step."""
