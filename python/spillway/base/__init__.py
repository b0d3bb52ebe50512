"""What every room needs: errors, files and folders, threads, arguments, the compiled core."""
