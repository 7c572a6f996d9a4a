"""Where the tests find things."""

import os
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SAMPLES = ROOT / "data" / "samples"
#: Real texts: a folder that the environment names, or one beside the checkout. Tests that need it skip without it.
REALDATA = Path(os.environ.get("ALIGNTOOLS_REALDATA") or ROOT.parent / "shared" / "data")
#: Programs that call aligners, fetched, a folder each; tests that run them skip where it is absent.
CLIENTS = Path(os.environ.get("ALIGNTOOLS_CLIENTS") or ROOT.parent / "shared" / "clients")
