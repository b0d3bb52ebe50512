"""What the documentation takes from the program, and what is checked of it."""
