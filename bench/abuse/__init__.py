"""A harness that tries to break the toolkit: damaged inputs, senseless options, faults of the machine.

What is promised: a command ends as if nothing had happened, with as many lines out as in, or it refuses with one line
that names the file and, for text, the line. Never a traceback, a signal, a hang, half a file, or a result that differs
silently. Everything is seeded; the same seed gives the same cases.

- `lines` and ``lines.txt``: good command lines, with what they read and write.
- `places`: the small texts that they start from, and the models that they make of them.
- `damages` and `model_damages`: what is done to input files.
- `forking` and `worker`: running a command many times in a process that has everything compiled.
- `inputs`, `options`, `faults`, `kills`: the four kinds of cases.
- `verdicts`: what is right and what is not.
- `table`: the report, and the command of ``bench/run.py``.
"""
