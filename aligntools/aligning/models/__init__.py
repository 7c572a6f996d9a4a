"""Alignment models: lexical tables, jumps, the diagonal, tables of positions, fertilities."""
