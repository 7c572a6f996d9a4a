"""The service's OpenAPI description, and the page that shows it."""

from typing import Any, get_args

from aligntools import __version__
from aligntools.formats.text.text_settings import Tokenizer

_SIDE = {
    "oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}],
    "description": "A sentence as people write it, or its words.",
}
_PAIR = {"type": "object", "required": ["source", "target"], "properties": {"source": _SIDE, "target": _SIDE}}
_ERRORS = {
    "400": "This is no request of HTTP/1.1.",
    "408": "The request was not there in time.",
    "413": "Too many bytes or pairs.",
    "415": "The body is not application/json.",
    "421": "The Host header has a name that the service does not go by.",
    "422": "The request is not as it should be, or its one pair has too many words; 'error' says which.",
    "429": "Too many requests wait; try again after the seconds of Retry-After.",
    "503": "There was no time for an answer.",
}
_WRONG: dict[str, Any] = {
    "application/json": {
        "schema": {"type": "object", "required": ["error"], "properties": {"error": {"type": "string"}}}
    }
}
#: What each route does, and an example of what it is sent.
ROUTES: dict[str, tuple[str, dict[str, Any]]] = {
    "/align": (
        "Links between the words of a pair, or of many, with probabilities and places in characters.",
        {"source": "Der Zug fährt um acht Uhr ab.", "target": "The train leaves at eight o'clock."},
    ),
    "/check": (
        "What a translation leaves out, adds or repeats.",
        {"pairs": [{"source": "Der Zug fährt ab.", "target": "The train the train leaves."}]},
    ),
    "/transfer-markup": (
        "The translation with the tags of its source.",
        {"source": "Der <b>Zug</b> fährt um acht Uhr ab.", "target": "The train leaves at eight o'clock."},
    ),
}


def openapi(models: list[str]) -> dict[str, Any]:
    """Return the OpenAPI description, version 3.1."""
    request = {
        "type": "object",
        "description": "One pair, as 'source' and 'target', or many, as 'pairs'.",
        "properties": {
            "model": {"type": "string", "enum": models, "default": models[0]},
            "tokenized": {"type": "boolean", "default": False, "description": "Words stand between spaces."},
            "tokenize": {"type": "string", "description": "Languages of raw text, such as de-en, or icu."},
            "tokenizer": {"type": "string", "enum": list(get_args(Tokenizer)), "default": "moses"},
            **_PAIR["properties"],  # type: ignore[dict-item]
            "pairs": {"type": "array", "items": _PAIR},
        },
    }
    paths: dict[str, Any] = {}
    for route, (about, example) in ROUTES.items():
        own: dict[str, Any] = request
        if route == "/align":
            threshold = {"type": "number", "minimum": 0, "maximum": 1}
            own = request | {"properties": {**request["properties"], "threshold": threshold}}  # type: ignore[dict-item]
        said = {"description": "A pair, or 'pairs' in their order; one that cannot be done has an 'error' alone."}
        answers: dict[str, Any] = {"200": said | {"content": {"application/json": {"schema": {"type": "object"}}}}}
        answers |= {status: {"description": why, "content": _WRONG} for status, why in _ERRORS.items()}
        content = {"application/json": {"schema": own, "example": example}}
        body = {"required": True, "content": content}
        paths[route] = {"post": {"summary": about, "requestBody": body, "responses": answers}}
    own_name = {"title": "aligntools", "version": __version__}
    return {"openapi": "3.1.0", "info": own_name, "paths": paths}
