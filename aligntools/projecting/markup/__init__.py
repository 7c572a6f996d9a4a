"""Tags of a text placed on its translation, by word links."""
