"""All sharing policies side by side."""
