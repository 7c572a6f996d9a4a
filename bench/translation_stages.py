"""What the studies of translation share: texts, and stages of commands whose outputs are made once and kept."""

import gzip
import hashlib
import json
from pathlib import Path

from bench import code, measuring

#: The option that names each command's output.
OUTPUTS = {
    "align": "-o", "contrastive-align": "-o", "train-lm": "--binary", "extract-grammar": "-o",
    "filter-grammar": "-o", "imputed-risk": "-w", "translate": "-o", "eval-bleu": "-o", "train-hmm": "-o", "tag": "-o",
}  # fmt: skip
#: Commands that say more than their output, kept with it.
TOLD = ("imputed-risk",)


class Stages:
    """Runs commands in a folder; an output's name tells the options and inputs that it came from.

    Parameters
    ----------
    texts : Path
        Folder of ``<name>.gz``.
    folder : Path
    threads : int
    """

    def __init__(self, texts, folder, threads):
        self.texts, self.folder, self.threads = texts, folder, threads
        folder.mkdir(parents=True, exist_ok=True)
        self.kept = folder / "stages.json"
        self.found = json.loads(self.kept.read_text()) if self.kept.exists() else {}

    def text(self, name):
        """Return a plain text."""
        path = self.folder / name
        if not path.exists():
            self.write(name, gzip.decompress((self.texts / f"{name}.gz").read_bytes()).decode())
        return path

    def lines(self, path):
        """Return the lines of a text."""
        return path.read_text(encoding="utf-8").splitlines()

    def write(self, name, text):
        """Write a text, given whole or as lines; return its path."""
        path = self.folder / name
        if not isinstance(text, str):
            text = "".join(line + "\n" for line in text)
        path.write_text(text, encoding="utf-8")
        return path

    def make(self, label, command, *args):
        """Return what a command writes; ``label`` begins its name."""
        args = [str(arg.relative_to(self.folder)) if isinstance(arg, Path) else str(arg) for arg in args]
        made_by = code.of(commands=[command])
        written = {arg: self._digest(arg) for arg in args if arg not in self.found and (self.folder / arg).is_file()}
        digest = hashlib.sha256(json.dumps([command, args, written, made_by]).encode()).hexdigest()[:10]
        name = f"{label}.{digest}"
        path = self.folder / name
        if name not in self.found or not path.exists():
            full = [self.folder / arg if (self.folder / arg).is_file() else arg for arg in args]
            full += [] if command == "eval-bleu" else ["--threads", self.threads] if command != "filter-grammar" else []
            if command not in TOLD and command != "eval-bleu":
                full.append("-q")
            usage = measuring.run(measuring.aligntools(command, *full, OUTPUTS[command], path))
            self.found[name] = {
                "seconds": usage.seconds, "cpu": usage.cpu, "peak": usage.peak, "size": path.stat().st_size,
                "said": usage.messages.splitlines() if command in TOLD else [],
            }  # fmt: skip
            self.kept.write_text(json.dumps(self.found, indent=1))
            measuring.note(f"{name}: {usage.seconds:.1f} s, {usage.peak >> 20} MB")
        return path

    def _digest(self, name):
        return hashlib.sha256((self.folder / name).read_bytes()).hexdigest()[:10]

    def usage(self, path):
        """Return what making a file took: seconds, cpu, peak, size, said."""
        return self.found[path.name]

    def bleu(self, reference, *outputs):
        """Return eval-bleu's results: of the second output and on, with the difference to the first one tested."""
        paired = ["--paired"] if len(outputs) > 1 else []
        path = self.make("bleu", "eval-bleu", "--json", *paired, reference, *outputs)
        return json.loads(path.read_text())["results"]
