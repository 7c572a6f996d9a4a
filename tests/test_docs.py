"""What the help, the README and the docs show is run, and must be true."""

import ast
import contextlib
import doctest
import io
import json
import re
import shlex
import shutil
import subprocess
import sys

import click
import pytest

import aligntools
from aligntools.cli.main import COMMANDS, cli
from tests.cli.running import ROOT, run
from tests.showing import PAGES, blocks, claims, numbers, prose, sessions, shell, text_of, title, to_run
from tests.sources import parsed

README = ROOT / "README.md"
DOCS = ROOT / "docs"
EXAMPLES = ROOT / "examples"
#: Pages that are run with each suite; CI runs the others with the slow tests.
QUICK = {"README.md", "docs/tutorials/memory.md", "docs/tutorials/python.md"}
#: Commands whose examples take long.
SLOW = {
    "align-sentences", "check", "contrastive-align", "drop-ins", "eval-lm", "extract-grammar", "filter-grammar",
    "imputed-risk", "parse", "project", "serve", "tag", "teach", "terms", "train-grammar", "train-hmm", "train-lm",
    "train-parser", "train-tagger", "transfer-markup", "transfer-parse", "translate", "warmup",
}  # fmt: skip
BY_TITLE = {title(p): p for p in PAGES}


def marked(thing, name, slow):
    """Return a test parameter by its name, marked where it takes long."""
    return pytest.param(thing, id=name, marks=[pytest.mark.slow] if slow else [])


def pages(chosen, run=False):
    """Return the pages for which ``chosen`` says so, as test parameters; those that take long to ``run`` are marked."""
    return [marked(p, title(p), run and title(p) not in QUICK) for p in PAGES if chosen(text_of(p))]


@pytest.fixture
def checkout(tmp_path):
    """A folder with what the examples use: the samples, the examples, the scripts."""
    folder = tmp_path / "checkout"
    shutil.copytree(ROOT / "data", folder / "data")
    shutil.copytree(EXAMPLES, folder / "examples", ignore=shutil.ignore_patterns("work"))
    (folder / "bin").symlink_to(ROOT / "bin")
    return folder


# The commands


def example(command):
    """Return the lines of the example that a command's help ends with."""
    text = (command.epilog or command.help).replace("\b", "")
    _, found, after = text.partition("Example:\n")
    assert found, f"the help of {command.name} has no example"
    assert "\n\n" not in after.strip(), f"the help of {command.name} does not end with its example"
    return [line.strip() for line in after.strip().splitlines()]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_that_ends_with_an_example(name):
    command = cli.get_command(None, name)
    assert len(command.help) > 60
    assert any(f"aligntools {name}" in line for line in example(command))
    for option in command.params:
        if isinstance(option, click.Option):
            plain = option.help or option.metavar == "N" or option.hidden  # --iterations N says it all
            assert plain, f"{name} {option.opts[0]} has no help"


@pytest.mark.parametrize("name", [marked(name, name, name in SLOW) for name in COMMANDS])
def test_the_example_runs(name, checkout, tmp_path):
    before = set(checkout.iterdir())
    lines = "\n".join(example(cli.get_command(None, name))).replace("/tmp/", "").replace("\\\n", " ").split("\n")
    if all(re.fullmatch(r"aligntools [^|<>$&;*?\\]*", line) for line in lines):  # nothing for a shell
        found = [run(*shlex.split(line)[1:], cwd=checkout) for line in lines]
        status = max(done.returncode for done in found)
        out, errors = (b"".join(parts) for parts in zip(*((d.stdout, d.stderr) for d in found), strict=True))
    else:
        [(status, out, errors)] = shell(["\n".join(lines)], checkout, tmp_path / "said")
    assert status == 0, errors.decode()
    assert b"Traceback" not in errors
    assert b"is called" not in errors, "the example has an old spelling"
    if name != "warmup":
        assert out or set(checkout.iterdir()) > before, "the example shows nothing"


# What README and docs run


def test_the_shell_and_its_reader(tmp_path):
    text = "```sh\n$ a b\nout 1\nout 2\n$ c\n\n$ d \\\n  e\n```\n```\n$ no\n```\n```sh\n$ f\n```\n"
    assert list(sessions(text)) == [("a b", ["out 1", "out 2"]), ("c", []), ("d e", []), ("f", [])]
    said = shell(["mkdir a", "cd a; pwd", "pwd; false | cat", "echo x >&2"], tmp_path, tmp_path / "said")
    assert [(status, out.decode()) for status, out, _ in said] == [
        (0, ""), (0, f"{tmp_path}/a\n"), (1, f"{tmp_path}/a\n"), (0, ""),
    ]  # fmt: skip
    assert said[-1][2] == b"x\n"


@pytest.mark.parametrize("page", pages(to_run, run=True))
def test_what_a_page_shows_is_what_happens(page, checkout, tmp_path):
    steps = to_run(text_of(page))
    done = shell([command for command, _ in steps], checkout, tmp_path / "said")
    for (command, shown), (status, out, errors) in zip(steps, done, strict=True):
        assert status == 0, f"{command}\n{errors.decode()}"
        assert b"Traceback" not in errors, command
        assert b"is called" not in errors, f"{command}: an old spelling"
        if shown:
            assert out.decode().splitlines() == shown, command


@pytest.mark.parametrize("page", pages(lambda text: blocks(text, "python"), run=True))
def test_the_python_of_a_page_runs(page, checkout, monkeypatch):
    monkeypatch.chdir(checkout)
    names = {"__name__": "__main__"}
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    for number, block in enumerate(blocks(text_of(page), "python")):
        if ">>>" in block:
            test = doctest.DocTestParser().get_doctest(block, {}, f"block {number}", str(page), 0)
            test.globs = names
            said = io.StringIO()
            assert runner.run(test, out=said.write, clear_globs=False).failed == 0, said.getvalue()
        else:
            with contextlib.redirect_stdout(io.StringIO()):
                exec(compile(block, f"{title(page)} block {number}", "exec"), names)


@pytest.mark.slow
def test_the_notebook_runs(checkout, monkeypatch):
    [path] = (checkout / "examples" / "notebook").glob("*.ipynb")
    monkeypatch.chdir(path.parent)
    names = {"__name__": "__main__"}
    cells = [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]
    assert len(cells) > 2
    with contextlib.redirect_stdout(io.StringIO()) as said, contextlib.redirect_stderr(io.StringIO()):
        for cell in cells:
            exec("".join(cell["source"]), names)
    assert said.getvalue()
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells), "clear the outputs"


def test_every_example_belongs_to_a_tutorial_that_runs_it():
    told = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    shown = "\n".join(c for p in PAGES if "tutorials" in p.parts for c, _ in to_run(text_of(p)))
    for folder in (p for p in EXAMPLES.iterdir() if p.is_dir()):
        assert f"`{folder.name}/`" in told
        assert (folder / "Makefile").exists() == (f"cd examples/{folder.name}" in shown), folder.name


@pytest.mark.slow
def test_the_docs_build_without_a_warning(tmp_path):
    pytest.importorskip("sphinx")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html", "docs", str(tmp_path / "html")]
    done = subprocess.run([*command, "-d", str(tmp_path / "trees")], cwd=ROOT, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    for name in COMMANDS:
        assert (tmp_path / "html" / "reference" / "commands" / f"{name}.html").exists()
    formulas = (tmp_path / "html" / "models" / "alignment.html").read_text(encoding="utf-8")
    assert formulas.count("<math") > 20
    assert not re.search(r"<script[^>]*mathjax", formulas, re.IGNORECASE), "nothing is fetched to show an equation"


# What README and docs say


def test_what_the_readme_and_the_docs_know():
    for page in (README, DOCS / "reference" / "commands.md"):
        for name in COMMANDS:
            assert f"`{name}`" in text_of(page), f"{title(page)} does not mention {name}"
    for page in PAGES:
        for name in re.findall(
            r"(?<![/\w-])aligntools ([a-z][a-z-]+)", "\n".join(c for c, _ in sessions(text_of(page)))
        ):
            assert name in COMMANDS, f"{title(page)} shows aligntools {name}, which there is not"
    shown = blocks(text_of(README), "")
    first = (ROOT / "data" / "samples" / "de-en.txt").read_text(encoding="utf-8").splitlines()[:3]
    assert shown[0].splitlines() == first
    [links] = [lines for c, lines in sessions(text_of(README)) if "align -q -i data/samples/de-en.txt | head -3" in c]
    assert len(links) == 3
    text = text_of(DOCS / "reference" / "api.md")
    documented = set(re.findall(r"^\.\. auto\w+:: (\w+)$", text, re.MULTILINE))
    assert documented | {"__version__"} == set(aligntools.__all__)
    versions = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    released = [version for version in versions if version != "Unreleased"]
    assert versions.index(released[0]) <= 1
    assert released[0].split()[0] == aligntools.__version__
    for path, line in ((ROOT / "CITATION.cff", "version: {}\n"), (DOCS / "stability.md", "version = {{{}}},\n")):
        assert line.format(aligntools.__version__) in text_of(path)


def options_of(name):
    """Return the spellings of a command's options, and those that it had."""
    command = cli.get_command(None, name)
    now = {o for parameter in command.params for o in (*parameter.opts, *parameter.secondary_opts)}
    return now | {"--help", "--help-all", "--set", "-h"}, set(getattr(command, "renamed", None) or {})


@pytest.mark.parametrize("page", pages(lambda text: "`--" in text))
def test_options_that_a_page_names_exist(page):
    known = {"--version", "--debug"}
    for name in COMMANDS:
        now, before = options_of(name)
        known |= now | (before if title(page) == "docs/moving.md" else set())
    shown = "\n".join(re.findall(r"aligntools .*", "\n".join(c for c, _ in to_run(text_of(page)))))
    text = text_of(page).replace("python bench/run.py", "")
    named = set(re.findall(r"`[^`\n]*?(?<![\w-])(--[a-z][a-z0-9-]+)", prose(text)))
    named |= set(re.findall(r"(?<=\s)(--[a-z][a-z0-9-]+)", shown))
    assert named - known - {"--guided-alignment"} == set()


def test_old_spellings_are_listed_and_work():
    text = text_of(DOCS / "moving.md")
    rows = re.findall(r"^\| (`[^|]*) \| (`--?[^|]*(?:\\\|[^|]*)*) \| (`[^|]*) \|", text, re.MULTILINE)
    listed = {}
    for commands, old, new in rows:
        for name in re.findall(r"`([a-z-]+)`", commands):
            now, before = options_of(name)
            for spelling in re.findall(r"`(--?[a-z_0-9-]+)", old):
                listed.setdefault(name, set()).add(spelling)
                assert spelling in before | now, f"{name} does not take {spelling}"
            assert set(re.findall(r"`(--?[a-z-]+)", new)) <= now, f"{name}: {new}"
    for name in COMMANDS:
        missing = options_of(name)[1] - listed.get(name, set())
        assert not missing, f"docs/moving.md: {name} {missing}"


@pytest.mark.parametrize("page", pages(lambda text: True))
def test_files_that_a_page_points_to_are_there(page):
    text = text_of(page)
    for target in re.findall(r"\]\(([^)#:\s]+)(?:#[\w-]*)?\)", prose(text)):
        assert (page.parent / target).exists(), f"{target} is not there"
    for path in re.findall(r"`((?:aligntools|bench|bin|data|docs|examples|studies|tests)/[\w./-]+)`", prose(text)):
        assert (ROOT / path).exists(), f"{path} is not there"
    for path in re.findall(r"^```\{(?:literal)?include\} (\S+)", text, re.MULTILINE):
        assert (page.parent / path).exists(), f"{path} is not there"


def has(tree, name):
    """Tell whether a module or class defines a name."""
    for node in tree.body:
        names = [getattr(node, "name", "")]
        if isinstance(node, ast.Assign):
            names = [n.id for t in node.targets for n in ast.walk(t) if isinstance(n, ast.Name)]
        elif isinstance(node, ast.AnnAssign):
            names = [ast.unparse(node.target)]
        elif isinstance(node, ast.Import | ast.ImportFrom):
            names = [a.asname or a.name for a in node.names]
        if name in names:
            return node
    return None


def exists(name):
    """Tell whether a dotted name is a module of the package, or what a module defines."""
    parts = name.split(".")
    for n in range(len(parts), 0, -1):
        base = ROOT.joinpath(*parts[:n])
        path = base.with_suffix(".py") if base.with_suffix(".py").is_file() else base / "__init__.py"
        if not path.is_file():
            continue
        if n == 1 and parts[1:] and parts[1] in aligntools.__all__:
            return len(parts) == 2
        node = parsed(path.relative_to(ROOT).as_posix())
        for part in parts[n:]:
            node = has(node, part) if hasattr(node, "body") else None
            if node is None:
                return False
        return True
    return False


def test_readers_of_names_and_figures():
    assert exists("aligntools.ground.parallel.Pool.map")
    assert exists("aligntools.cli")
    assert not exists("aligntools.ground.parallel.Pol")
    assert not exists("aligntools.round")
    assert numbers("took 1,234.5 s, `--n 7`, -3 and 2-way, 99.") == [(1234.5, 1), (3, 0), (99, 0)]
    assert list(claims('a 1\n\nSections: "X", "Y".\nb 2\n\n(sections "Z".)\n## c 3\n')) == [
        ("a 1\n\n", ["X", "Y"]), (".\nb 2\n\n(", ["Z"]),
    ]  # fmt: skip


@pytest.mark.parametrize("page", pages(lambda text: "`aligntools." in text))
def test_modules_and_functions_that_a_page_names_exist(page):
    if title(page) == "docs/moving.md":  # its left column is of names that are gone
        text = re.sub(r"^\| [^|]*\|", "", text_of(page), flags=re.MULTILINE)
    else:
        text = text_of(page)
    names = set(re.findall(r"[`<](aligntools(?:\.\w+)+)[`>(]", prose(text)))
    assert names
    assert sorted(n for n in names if not exists(n)) == []


def equations(text):
    """Yield each display equation's place, its line, and the blocks between it and the end of its section."""
    for section in re.split(r"^(?=#+ )", text, flags=re.MULTILINE):
        blocks = re.split(r"\n\n+", re.sub(r"^```.*?^```", "", section, flags=re.MULTILINE | re.DOTALL))
        for n, block in enumerate(blocks):
            if block.startswith("$$"):
                yield " ".join(block.split())[:60], blocks[n + 1 :]


@pytest.mark.parametrize("page", pages(lambda text: "\n$$\n" in text and "*In the code*" in text))
def test_the_code_of_an_equation_stands_below_it(page):
    """After four paragraphs or further equations at most, and in the same section."""
    found = list(equations(text_of(page)))
    assert found
    assert [eq for eq, after in found if not any("*In the code*" in block for block in after[:5])] == []


def results():
    """Return what was measured, and what studies found, by section, and by section within a section."""
    text = "".join((ROOT / folder / "RESULTS.md").read_text(encoding="utf-8") for folder in ("bench", "studies"))
    found = {}
    for marks in ("##+", "##"):
        parts = re.split(rf"^{marks} (.*)$", text, flags=re.MULTILINE)
        found |= dict(zip(parts[1::2], parts[2::2], strict=True))
    return found


@pytest.mark.parametrize(("page", "least"), [("README.md", 20), ("docs/cost.md", 50), ("docs/papers.md", 50)])
def test_every_figure_is_in_the_results(page, least):
    measured, checked = results(), 0
    for said, sections in claims(text_of(BY_TITLE[page])):
        known = [x for section in sections for x, _ in numbers(measured[section].replace("|", " | "))]
        for value, decimals in numbers(said):
            close = 0.5 * 10**-decimals * 1.0001
            assert any(abs(x - value) <= close for x in known), f"{value:.{decimals}f} is not in {sections}"
            checked += 1
    assert checked > least


#: Numbers of README outside its claims that are no figures: what their line has, and why.
NO_FIGURES = {
    "counted from 0:": "how links are counted",
    "Python 3.11 or later": "what is needed",
    "[moving from 0.1](docs/moving.md)": "a version",
    "Apache 2.0.": "a license",
}
#: Lines that have figures before the section that shows them, with the section.
ABOVE = {"on 21 of 21 gold sets": "Quality"}


def test_every_number_of_the_readme_is_a_figure_that_is_checked_or_none():
    rest, used = text_of(README), set()
    for said, _ in claims(rest):
        assert said in rest
        rest = rest.replace(said, "")
    rest = re.sub(r"[Ss]ections:? .*", "", prose(rest))
    for line in (line for line in rest.splitlines() if numbers(line)):
        [known] = [part for part in (*NO_FIGURES, *ABOVE) if part in line] or [None]
        assert known, f"no section is named for what this line says: {line}"
        used.add(known)
    assert used == {*NO_FIGURES, *ABOVE}
    assert "21 of 21" in results()[ABOVE["on 21 of 21 gold sets"]]


def test_the_readme_names_the_commits_that_its_figures_are_of():
    measured = results()
    named = re.findall(
        r"sections? ((?:\"[^\"]+\"(?:, )?)+)measured at commits? ([^.]*)\.", " ".join(text_of(README).split())
    )
    assert len(named) == sum(1 for _ in claims(text_of(README)))
    for sections, commits in named:
        own = [re.findall(r"^\d{4}-\d\d-\d\d, commit (\w+)", measured[x], re.MULTILINE) for x in
               re.findall(r'"([^"]+)"', sections)]  # fmt: skip
        assert re.findall(r"`(\w+)`", commits) == list(dict.fromkeys(commit for found in own for commit in found))


#: Turns of phrase that are out of use, or leave readers guessing.
ODD = re.compile(
    r"unless (?:said|told)|gone on from|face(?:s|d)? (?:each other|one another)|facing|what spoils|spoiled|"
    r"wanted besides|\bis no (?:folder|file|size|number|model)|for want of|\bnought\b|in the place of|"
    r"\bwhich there (?:is|are) not\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", pages(lambda text: True))
def test_plain_english(page):
    assert ODD.findall(prose(text_of(page))) == []
