"""Models behind HTTP: what is asked, what is answered, and within which limits."""
