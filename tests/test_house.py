"""The house: which floor imports which, what is packaged, and that importing is light."""

import ast
import graphlib
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
FLOORS = {
    "kernels": ("fastcube.kernels",),
    "fastcube": ("fastcube.kernels", "fastcube"),
    "studies": ("fastcube.kernels", "fastcube", "fastcube.studies"),
}


def sources(floor):
    links = {ROOT / "fastcube" / name for name in ("kernels", "studies", "data")}
    return [p for p in sorted((ROOT / floor).rglob("*.py")) if not links & set(p.parents)]


def imported(floor, path, statements=ast.walk):
    """Absolute names of what a file imports, wherever in it or by these of its statements."""
    package = ["fastcube"] if floor == "fastcube" else ["fastcube", floor]
    package += list(path.relative_to(ROOT / floor).parts[:-1])
    for node in statements(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("floor", FLOORS)
def test_imports_run_one_way(floor):
    for path in sources(floor):
        for name in imported(floor, path):
            if name.split(".")[0] == "fastcube":
                # "fastcube.kernels" itself is the package that jit.py hashes
                home = next((f for f in ("kernels", "studies") if name.startswith(f"fastcube.{f}")), "fastcube")
                allowed = {
                    "kernels": {"kernels"},
                    "fastcube": {"kernels", "fastcube"},
                    "studies": {"kernels", "fastcube", "studies"},
                }
                assert home in allowed[floor], f"{path.relative_to(ROOT)} imports {name}"


def at_import(node):
    """The import statements that run when a module is imported: none in functions, none for type checkers alone."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import | ast.ImportFrom):
            yield child
        elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            yield from at_import(ast.Module(child.orelse, []))
        elif not isinstance(child, ast.FunctionDef | ast.Lambda):
            yield from at_import(child)


def module_name(floor, path):
    parts = [*([] if floor == "fastcube" else [floor]), *path.relative_to(ROOT / floor).with_suffix("").parts]
    return ".".join(["fastcube", *parts]).removesuffix(".__init__")


def test_no_circle_of_imports():
    paths = {module_name(floor, path): (floor, path) for floor in FLOORS for path in sources(floor)}
    needs = {}
    for module, (floor, path) in paths.items():
        found = set()
        for name in imported(floor, path, at_import):
            found.add(name if name in paths else name.rpartition(".")[0])
        needs[module] = (found & set(paths)) - {module}
    assert sum(map(len, needs.values())) > 100
    try:
        list(graphlib.TopologicalSorter(needs).static_order())
    except graphlib.CycleError as error:
        pytest.fail(" -> ".join(error.args[1]))


def test_only_jit_names_njit():
    for path in sources("kernels") + sources("fastcube") + sources("studies"):
        if path.name != "jit.py":
            assert "njit" not in path.read_text(), path


def test_every_package_folder_is_in_pyproject():
    listed = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"])
    found = {"fastcube", "fastcube.data"}
    for floor in FLOORS:
        for path in sources(floor):
            if path.name == "__init__.py":
                parts = path.parent.relative_to(ROOT).parts
                found.add(".".join(parts if parts[0] == "fastcube" else ("fastcube", *parts)))
    assert listed == found


@pytest.mark.skipif((ROOT / "PKG-INFO").exists(), reason="an sdist has no links and needs none")
@pytest.mark.parametrize("name", ["kernels", "studies", "data"])
def test_links_of_a_checkout(name):
    link = ROOT / "fastcube" / name
    assert link.is_symlink()
    assert str(link.readlink()) == f"../{name}"


def test_no_module_bears_the_name_of_a_public_function():
    import fastcube

    functions = {n for n in fastcube.__all__ if n != "__version__" and not isinstance(getattr(fastcube, n), type)}
    assert not functions & {p.stem for p in (ROOT / "fastcube").glob("*.py")}


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, **environment}, check=True
    ).stdout


HEAVY = ("numba", "h5py", "numpy", "scipy", "matplotlib")


def test_importing_is_light():
    assert run(f"import sys, fastcube, fastcube.cli; print([m for m in {HEAVY} if m in sys.modules])").strip() == "[]"


def test_help_loads_nothing_heavy():
    """What makes it quick; how quick it is, benchmarks/startup.py tells."""
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
        "import sys, fastcube.table, fastcube.engine.results, fastcube.engine.driver, fastcube.engine.engines; "
        "print('numba' in sys.modules)"
    )
    assert run(code).strip() == "False"
