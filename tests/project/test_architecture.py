"""The package layout: which layer imports which, how files and functions are named, and that importing is light."""

import ast
import functools
import graphlib
import importlib
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
#: The own folders that each folder may import.
LAYERS = {
    "kernels": {"kernels"},
    "fastcube": {"kernels", "fastcube"},
    "studies": {"kernels", "fastcube", "studies"},
    "audit": {"kernels", "fastcube", "studies", "audit"},
}


#: Where a layer lies whose folder does not have its name.
PLACES = {"audit": ROOT / "audit" / "fastcube_audit"}


def folder_of(layer):
    return PLACES.get(layer, ROOT / layer)


def sources(layer):
    """The files of a layer; none of the audit in an sdist of the engine, which leaves it out."""
    links = {ROOT / "fastcube" / name for name in ("kernels", "studies", "data", "readings")}
    return [p for p in sorted(folder_of(layer).rglob("*.py")) if not links & set(p.parents)]


@functools.cache
def parsed(path):
    return ast.parse(path.read_text())


def all_statements(node):
    """The statements of a module, wherever in it; expressions, most of its nodes, hold none."""
    for part in ("body", "handlers", "orelse", "finalbody", "cases"):
        for child in getattr(node, part, ()):
            yield child
            yield from all_statements(child)


def imported(layer, path, statements=all_statements):
    """Absolute names of what a file imports, wherever in it or by these of its statements."""
    package = {"fastcube": ["fastcube"], "audit": ["fastcube_audit"]}.get(layer, ["fastcube", layer])
    package += list(path.relative_to(folder_of(layer)).parts[:-1])
    for node in statements(parsed(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("layer", LAYERS)
def test_imports_run_one_way(layer):
    for path in sources(layer):
        for name in imported(layer, path):
            if name.split(".")[0] in ("fastcube", "fastcube_audit"):
                # "fastcube.kernels" itself is the package that jit.py hashes
                inside = next((f for f in ("kernels", "studies") if name.startswith(f"fastcube.{f}")), "fastcube")
                home = "audit" if name.startswith("fastcube_audit") else inside
                assert home in LAYERS[layer], f"{path.relative_to(ROOT)} imports {name}"


def test_the_audit_uses_no_private_name_of_the_engine():
    """Every name that it imports has no underscore, and a docstring if it is a function or a class."""
    for path in sources("audit"):
        for name in imported("audit", path):
            if name.startswith("fastcube."):
                assert not re.search(r"\._", name), f"{path.relative_to(ROOT)} imports {name}"
                module, _, last = name.rpartition(".")
                thing = getattr(importlib.import_module(module), last, None)
                assert not inspect.isroutine(thing) or inspect.getdoc(thing), f"{name} has no docstring"


def module_name(layer, path):
    first = {"fastcube": ["fastcube"], "audit": ["fastcube_audit"]}.get(layer, ["fastcube", layer])
    return ".".join([*first, *path.relative_to(folder_of(layer)).with_suffix("").parts]).removesuffix(".__init__")


SHARED = {"machine", "tally", "cube", "draws"}
SUBJECTS = sorted(p.parent for p in (ROOT / "kernels").glob("*/__init__.py") if p.parent.name not in SHARED)
#: File names that fit any subject, and names that describe an action instead of the content.
VAGUE_IN_SUBJECTS = {"trials", "record", "tally", "enumeration", "search", "dense", "draws"}
VAGUE_NAMES = {
    "common",
    "util",
    "closed",
    "counted",
    "drawn",
    "found",
    "kept",
    "listed",
    "marked",
    "merged",
    "packaged",
    "planted",
    "recorded",
    "sampled",
    "seen",
    "shared",
    "sorted",
    "spanned",
}


@pytest.mark.parametrize("folder", SUBJECTS, ids=lambda folder: folder.name)
def test_subjects_of_kernels_have_the_same_modules(folder):
    names = {p.stem for p in folder.glob("*.py")}
    assert {"layout", "scalar", "dispatch"} <= names
    assert not (VAGUE_IN_SUBJECTS | VAGUE_NAMES) & {part for name in names for part in name.split("_")}
    if "lanes" in names:
        begin = ast.get_docstring(ast.parse((folder / "lanes.py").read_text())).split("\n\n")[1]
        docstring = " ".join(begin.split())
        assert docstring.startswith("Entry point") and "sample" in docstring and "study's key" in docstring


def test_what_is_counted_and_which_kernel_serves_is_known_without_numba():
    names = [f"fastcube.kernels.{folder.name}.{module}" for folder in SUBJECTS for module in ("layout", "dispatch")]
    assert run(f"import sys, {', '.join(names)}; print('numba' in sys.modules)").strip() == "False"


def test_file_names_say_their_content():
    for layer in LAYERS:
        for path in sources(layer):
            assert path.stem not in VAGUE_NAMES, path


#: Participles, bare verbs, adjectives and prepositions that name no function: its name is a verb with a noun.
VAGUE_FUNCTIONS = {
    "told",
    "tell",
    "shown",
    "known",
    "held",
    "kept",
    "handed",
    "searched",
    "listed",
    "plain",
    "put",
    "keep",
    "ask",
    "own",
    "whole",
    "few",
    "apart",
    "of_point",
    "of_study",
    "beside",
}


def test_function_names_are_a_verb_with_a_noun():
    """None of the participles, bare verbs and adjectives that the code was full of once."""
    for layer in LAYERS:
        for path in sources(layer):
            names = {node.name.strip("_") for node in all_statements(parsed(path)) if isinstance(node, ast.FunctionDef)}
            assert not names & VAGUE_FUNCTIONS, path


def test_contributing_lists_all_folders_in_order():
    """Every folder of fastcube/, in the order that they import in, and every folder of kernels/ but the subjects'."""
    plan = (ROOT / "CONTRIBUTING.md").read_text().split("## Package layout")[1].split("\n## ")[0]
    modules = re.findall(r"^      (\w+)/?  +", plan, re.MULTILINE)
    assert {module for module in modules if (ROOT / "kernels" / module).is_dir()} == SHARED
    named = [module for module in ORDER if module in modules]
    assert [module for module in modules if module in ORDER] == named and set(ORDER) - set(named) == {
        "resources",
        "pickling",
    }
    folders = {p.name for p in (ROOT / "fastcube").iterdir() if p.is_dir() and not p.is_symlink()} - {"__pycache__"}
    assert folders <= set(modules)
    assert all(f"      {folder}/ " in plan for folder in folders)


@pytest.mark.parametrize("layer", LAYERS)
def test_the_first_line_of_each_module_says_its_content(layer):
    """So that CONTRIBUTING.md names folders alone."""
    for path in sources(layer):
        if path.name != "__init__.py":
            first = (ast.get_docstring(parsed(path)) or "").partition("\n\n")[0]
            assert len(first.split()) >= 2 and first.rstrip().endswith((".", ":", "?")), path


def test_the_formatter_is_left_alone_for_a_reason():
    """At most thirty statements keep a layout of their own, each with its reason."""
    files = [p for layer in (*LAYERS, "tests") for p in sources(layer)]
    lines = [line for p in files for line in p.read_text().splitlines() if line.endswith("# fmt: skip")]
    assert 0 < len(lines) <= 30
    assert all(re.search(r"# \w.* # fmt: skip$", line) for line in lines), lines


def test_only_jit_names_njit():
    for path in sources("kernels") + sources("fastcube") + sources("studies"):
        if path.name != "jit.py":
            assert "njit" not in path.read_text(), path


@pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="an sdist has no links and needs none")
@pytest.mark.parametrize("place", ["kernels", "studies", "data", "docs/readings"])
def test_links_of_a_checkout(place):
    link = ROOT / "fastcube" / place.rpartition("/")[2]
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{place}"


def test_no_module_bears_the_name_of_a_public_function():
    import fastcube

    functions = {n for n in fastcube.__all__ if n != "__version__" and callable(getattr(fastcube, n))}
    assert not functions & {p.stem for p in (ROOT / "fastcube").iterdir()}


@pytest.mark.slow
def test_public_functions_stay_callable_after_every_import():
    """Python binds a submodule over a name of its package that it shares; the test before this one compares the names."""
    code = """
import importlib, pkgutil, fastcube
for module in pkgutil.walk_packages(fastcube.__path__, "fastcube."):
    if "kernels" not in module.name and not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print([n for n in fastcube.__all__ if n not in ("__version__", "blocks") and not callable(getattr(fastcube, n))])
"""
    assert run(code).strip() == "[]"


#: Imports in fastcube/: each module may import those before it.
ORDER = (
    *("errors", "resources", "pickling", "networks", "blocks", "algorithms", "measure", "results", "running", "plot"),
    *("exact", "cli"),
)
#: But for these, and why.
CLIMBS = {
    ("measure/study.py", "results"): "for type checkers: a figure and notes take Results",
    ("results/results.py", "plot"): "Results.plot draws; importing results must not import matplotlib",
}


def test_rooms_import_those_before_them():
    """Every import, in functions and for type checkers too."""
    found = set()
    for path in sources("fastcube"):
        inside = path.relative_to(ROOT / "fastcube")
        module = inside.parts[0].removesuffix(".py")
        if module.startswith("__"):
            continue
        for name in imported("fastcube", path):
            other = name.split(".")[1] if name.startswith("fastcube.") else ""
            assert other in (*ORDER, "", "kernels", "data"), f"{inside} imports {name}"
            if other in ORDER and ORDER.index(other) > ORDER.index(module):
                found.add((inside.as_posix(), other))
            assert module != "blocks" or other in ("", "errors", "kernels")
    assert found == set(CLIMBS)


#: What methods of ``Results`` import when they are called: modules that take Results.
RESULTS_METHODS = {"fastcube.results.export", "fastcube.results.table", "fastcube.results.writing"}


def test_no_circle_of_imports():
    """Every import, in functions and for type checkers too, but for the climbs of the table and the methods of Results."""
    paths = {module_name(layer, path): (layer, path) for layer in LAYERS for path in sources(layer)}
    climbs = {module_name("fastcube", ROOT / "fastcube" / file): f"fastcube.{place}." for file, place in CLIMBS}
    needs = {}
    for module, (layer, path) in paths.items():
        found = {name if name in paths else name.rpartition(".")[0] for name in imported(layer, path)}
        up = {name for name in found if f"{name}.".startswith(climbs.get(module, " "))}
        needs[module] = (found & set(paths)) - {module} - up
    assert needs["fastcube.results.results"] >= RESULTS_METHODS
    needs["fastcube.results.results"] -= RESULTS_METHODS
    assert sum(map(len, needs.values())) > 1000
    try:
        list(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_no_folder_forwards():
    """An ``__init__`` below fastcube/ has its own words and code, or nothing: one name, one place."""
    for path in sources("fastcube"):
        if path.name == "__init__.py" and path.parent != ROOT / "fastcube":
            text = path.read_text()
            assert "__all__" not in text, path
            for node in ast.parse(text).body:
                if isinstance(node, ast.ImportFrom) and node.level:
                    for alias in node.names:
                        assert text.count(alias.asname or alias.name) > 1, f"{path} passes {alias.name} on"


def test_users_need_two_names():
    """What a person is shown imports fastcube and fastcube.blocks, and nothing deeper."""
    shown = [
        ROOT / "README.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "examples").glob("*.py"),
        *(ROOT / "data").glob("*.json"),
    ]
    shown += [p for p in sources("audit") if "papers" in p.parts]
    texts = [(path, path.read_text()) for path in shown if not {"_build", "gallery"} & set(path.parts)]
    assert len(texts) > 40
    for path, source in texts:
        text = source
        if path.suffix == ".py" and path.parent != ROOT / "examples":  # lines of Python are strings there
            strings = (node.value for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Constant))
            text = "\n".join(s for s in strings if isinstance(s, str))
        deep = re.findall(r"(?:import|from|import_module\(.|__import__\(.)\s*fastcube\.(?!blocks\b)\w+.*", text)
        assert not deep, f"{path}: {deep}"


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=True
    ).stdout


HEAVY = ("numba", "h5py", "numpy", "scipy", "matplotlib")


def test_importing_is_light():
    assert run(f"import sys, fastcube, fastcube.cli; print([m for m in {HEAVY} if m in sys.modules])").strip() == "[]"


def test_help_loads_nothing_heavy():
    """The conditions for a fast start; benchmarks/startup.py measures it."""
    code = (
        "import sys, fastcube.cli as c\ntry: c.main(['--help'])\n"
        f"except SystemExit: print([m for m in {HEAVY} if m in sys.modules])"
    )
    assert run(code).splitlines()[-1] == "[]"


def test_kernels_cannot_be_imported_under_another_name():
    done = subprocess.run(
        [sys.executable, "-c", "import kernels"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert "import it as 'fastcube.kernels'" in done.stderr


def test_reading_does_not_import_numba(tmp_path):
    """Compiled code is for running; looking at results should not wait for numba."""
    code = (
        "import sys, fastcube.results.table, fastcube.results.results, fastcube.running.driver, fastcube.running.engines; "
        "print('numba' in sys.modules)"
    )
    assert run(code).strip() == "False"


def test_paths_of_tests_in_documents_exist():
    documents = dict.fromkeys([ROOT / "CONTRIBUTING.md", ROOT / "README.md", *(ROOT / "docs").glob("*.md")], "")
    documents[ROOT / "tests" / "README.md"] = "tests/"
    for document, base in documents.items():
        pattern = r"`((?:[\w*]+/)+[\w*]+\.py)`" if base else r"\b(tests/[\w/*]+\.py)\b"
        named = [name for name in re.findall(pattern, document.read_text()) if not re.search("SUBJECT|mystudies", name)]
        missing = [name for name in named if not list(ROOT.glob(base + name))]
        assert not missing, (document.name, missing)


def test_files_named_in_modules_exist():
    """By the end of their path, as ``status.py`` or ``draws/nodes.py``; ``my_study.py`` is a user's."""
    paths = [
        path
        for folder in ("audit", "benchmarks", "docs", "examples", "fastcube", "kernels", "studies", "tests")
        for path in sorted((ROOT / folder).rglob("*.py"))
    ]
    files = {f"/{path.relative_to(ROOT).as_posix()}" for path in paths} | {"/my_study.py"}
    lost = {
        (path.name, name)
        for path in paths
        for name in re.findall(r"``((?:\w+/)*\w+\.py)``", path.read_text(encoding="utf-8"))
        if not any(file.endswith(f"/{name}") for file in files)
    }
    assert lost == set()


def test_no_test_file_imports_another():
    for path in sources("tests"):
        if path.name.startswith("test_"):
            names = list(imported("tests", path))
            assert not [name for name in names if name.split(".")[0].startswith("test_") or ".test_" in name], path
