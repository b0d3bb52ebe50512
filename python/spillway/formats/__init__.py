"""Other programs' files, read and written."""
