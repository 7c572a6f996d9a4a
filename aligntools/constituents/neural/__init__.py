"""Grammars of constituents whose rules a network makes: neural and compound PCFGs (Kim, Dyer & Rush 2019)."""
