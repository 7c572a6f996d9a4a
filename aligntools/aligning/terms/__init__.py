"""Term pairs of aligned text: what is translated as a unit, and is worth a glossary."""
