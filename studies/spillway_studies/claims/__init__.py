"""What a figure of a paper is, what runs it, and what judges its claims."""
