"""What edges are scored by: vocabularies, templates and hashed features."""
