"""Model files: named arrays and a versioned header in one file, without pickle."""

import json
import os
import tempfile

import numpy as np

from aligntools.errors import DataError, ModelError

#: Raised with every change of what a model file holds.
VERSION = 1
_MAGIC = "aligntools"


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
    from safetensors.numpy import save_file

    text = {"format": _MAGIC, "kind": kind, "version": str(VERSION), "header": json.dumps(header, sort_keys=True)}
    folder = os.path.dirname(os.path.realpath(path))
    try:
        handle, temporary = tempfile.mkstemp(prefix=f".{os.path.basename(path)[:100]}.", suffix=".part", dir=folder)
        os.close(handle)
        try:
            save_file({name: np.ascontiguousarray(a) for name, a in arrays.items()}, temporary, text)
            umask = os.umask(0)
            os.umask(umask)
            os.chmod(temporary, 0o666 & ~umask)
            os.replace(temporary, os.path.realpath(path))
        except BaseException:
            os.unlink(temporary)
            raise
    except OSError as error:
        raise DataError(path, None, f"cannot be written: {error.strerror or error}") from None
    except Exception as error:
        if type(error).__name__ != "SafetensorError":
            raise
        raise DataError(path, None, f"cannot be written: {error}") from None


def read_model(path, kind):
    """Read a model file.

    Returns
    -------
    header : dict
    arrays : dict of str to np.ndarray

    Raises
    ------
    ModelError
        When it is no model file, is damaged, or is of another kind or version.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with open(path, "rb"):
            pass
        with safe_open(path, framework="numpy") as file:
            text = file.metadata() or {}
            if text.get("format") != _MAGIC:
                raise ModelError(path, None, "is not a model of this program; train one with --save-model")
            if text.get("kind") != kind:
                raise ModelError(path, None, f"holds a model of kind '{text.get('kind')}'; this command needs '{kind}'")
            if text.get("version") != str(VERSION):
                raise ModelError(
                    path,
                    None,
                    f"has model version {text.get('version')}, this program reads version {VERSION}; train it again",
                )
            return json.loads(text["header"]), {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except OSError as error:
        raise ModelError(path, None, f"cannot be opened: {error.strerror or error}") from None
    except (SafetensorError, ValueError, KeyError) as error:
        raise ModelError(path, None, f"is damaged or not a model file ({str(error).splitlines()[0][:120]})") from None
