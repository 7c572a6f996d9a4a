"""Tags of languages, such as ``de`` and ``de-DE``."""


def matches(language: str, tag: str) -> bool:
    """Tell whether two language tags are one language: ``de`` and ``de-DE`` are, ``de-AT`` and ``de-DE`` are not."""
    one, other = (name.lower().replace("_", "-").split("-") for name in (language, tag))
    return bool(tag) and all(a == b for a, b in zip(one, other, strict=False))
