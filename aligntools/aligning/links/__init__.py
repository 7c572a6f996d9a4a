"""What is made of links: symmetrization, translation tables."""
