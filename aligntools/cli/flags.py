"""Fields of settings, as the command line has them: in options, and in messages of what is below it."""

from aligntools.ground.errors import named

#: What the command line calls otherwise than Python: files that have short flags.
FLAGS = {"joint_file": "-i", "source": "-s", "target": "-t", "model": "-m"}


def flag(name: str) -> str:
    """Return the flag of a field: ``--min-length`` of ``min_length``."""
    return FLAGS.get(name) or "--" + name.replace("_", "-")


def as_flag(name: str, value: str | None = None) -> str:
    """Return a field with its value as the command line has it: ``--symmetrize joint``, ``--no-agreement``."""
    if value in (None, "True"):
        return flag(name)
    return f"--no-{name.replace('_', '-')}" if value == "False" else f"{flag(name)} {value}"


def on_command_line(message: str) -> str:
    """Return a message with the fields that it names as flags."""
    return named(message, as_flag)
