"""Models of any kind: loading them, looking at what they learned."""
