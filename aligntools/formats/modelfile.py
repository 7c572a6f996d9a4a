"""Model files: named arrays and a versioned header in one file, without pickle."""

import contextlib
import json
import os

import numpy as np

from aligntools.formats import appearing, files
from aligntools.ground.errors import DataError, ModelError

#: Raised with every change of what a model file holds.
VERSION = 1
_MAGIC = "aligntools"
#: What takes a model of each kind.
USES = {
    "alignment": "align -m",
    "tagger": "tag -m",
    "parser": "parse -m",
    "grammar": "translate --grammar",
    "lm": "translate --lm",
}


def write_model(path, kind, header, arrays):
    """Write a model file; it appears whole or not at all.

    Parameters
    ----------
    kind : str
        What the file holds, for instance ``alignment``.
    header : dict
        Settings and the like, JSON.
    arrays : dict of str to np.ndarray

    Raises
    ------
    DataError
        When it cannot be written.
    """
    from safetensors.numpy import save, save_file

    # under one key, since safetensors writes several in an order that changes from run to run
    about = {"kind": kind, "version": VERSION, "header": header}
    text = {_MAGIC: json.dumps(about, sort_keys=True)}
    if os.path.exists(path) and not os.path.isfile(path):  # a device or a pipe must not be replaced by a file
        with files.writing(path) as out:
            out.write(save({name: np.ascontiguousarray(a) for name, a in arrays.items()}, text))
        return
    try:
        with appearing.appearing(path) as part:
            save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, part, text)
    except OSError as error:
        raise DataError(path, None, f"cannot be written: {error.strerror or error}") from None
    except Exception as error:
        if type(error).__name__ != "SafetensorError":
            raise
        raise DataError(path, None, f"cannot be written: {error}") from None


@contextlib.contextmanager
def fitting(path):
    """Turn what goes wrong while a model's parts are put together into one `ModelError`."""
    try:
        yield
    except (KeyError, ValueError, TypeError, IndexError) as error:
        raise ModelError(path, None, f"is damaged: its parts do not fit together ({error})") from None


def hold(arrays, name, shape, kind):
    """Return an array that has the shape and type that kernels trust, and no infinities; else a ValueError."""
    array = arrays[name]
    if array.shape != shape or array.dtype != kind:
        raise ValueError(f"{name} is {array.dtype} {array.shape}")
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} is not finite")
    return array


def is_model(path: str) -> bool:
    """Tell whether a file begins as a model file does, which no text does; a file that cannot be opened does not."""
    try:
        if str(path) == "-" or not os.path.isfile(path):
            return False
        with open(path, "rb") as file:
            start = file.read(9)
    except OSError:
        return False
    return len(start) == 9 and start[8:] == b"{" and int.from_bytes(start[:8], "little") < 1 << 32


def model_kind(path) -> str:
    """Return the kind of a model file, for instance ``tagger``.

    Raises
    ------
    ModelError
        When it is not a model file, or damaged.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with open(path, "rb"):
            pass
        with safe_open(path, framework="numpy") as file:
            text = file.metadata() or {}
        if _MAGIC not in text:
            raise ModelError(path, None, "is not a model of this program; train one with --save-model")
        return str(json.loads(text[_MAGIC])["kind"])
    except OSError as error:
        raise ModelError(path, None, f"cannot be opened: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(path, None, f"is damaged or not a model file ({str(error).splitlines()[0][:120]})") from None


def read_model(path, kind):
    """Read a model file.

    Returns
    -------
    header : dict
    arrays : dict of str to np.ndarray

    Raises
    ------
    ModelError
        When it is not a model file, is damaged, or is of another kind or version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with open(path, "rb"):
            pass
        with safe_open(path, framework="numpy") as file:
            text = file.metadata() or {}
            if _MAGIC not in text:
                raise ModelError(path, None, "is not a model of this program; train one with --save-model")
            about = json.loads(text[_MAGIC])
            if about["kind"] != kind:
                use = USES.get(about["kind"])
                advice = f" (that one is for `aligntools {use}`)" if use else ""
                found = f"holds a model of kind '{about['kind']}'; this command needs '{kind}'{advice}"
                raise ModelError(path, None, found)
            if about["version"] != VERSION:
                raise ModelError(
                    path,
                    None,
                    f"has model version {about['version']}, this program reads version {VERSION}; train it again",
                )
            return about["header"], {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise ModelError(path, None, f"cannot be opened: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError, TypeError) as error:
        raise ModelError(path, None, f"is damaged or not a model file ({str(error).splitlines()[0][:120]})") from None
