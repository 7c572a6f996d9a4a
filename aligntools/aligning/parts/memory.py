"""How much memory work in parts takes."""

#: Bytes that a process needs for a part or a shard, beside what does not grow with any text.
A_PART = 320 << 20
#: Bytes of memory that a word of a view takes in the process that numbers them.
A_WORD = 250
