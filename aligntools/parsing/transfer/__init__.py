"""Parsers for languages without treebanks: source trees carried through parallel text, and learning from them."""
