"""Results to look at: pages, pictures, text for the terminal."""
