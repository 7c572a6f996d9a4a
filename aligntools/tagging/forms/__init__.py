"""What the letters of a word say about its tag, for words that training never or seldom saw."""
