"""The command ``aligntools``, also as ``python -m aligntools``."""

from aligntools.cli import signals


def main() -> None:
    """Run the command line; until it has begun, an interrupt ends the process without a word."""
    signals.end_quietly()
    from aligntools.cli.main import main as run

    run()


if __name__ == "__main__":
    main()
