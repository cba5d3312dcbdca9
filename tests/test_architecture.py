"""Imports point inward. Read from the source, so an import inside a function counts as well."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
# What implements a port. Whoever needs one gets it handed over by the composition root.
ADAPTERS = (
    "bot.store.sqlite",
    "bot.store.postgres",
    "bot.model.client",
    "bot.model.moderation",
    "bot.telegram.forum",
    "bot.telegram.sender",
    "memory.backends",
)
# Who may name them: where the parts are put together, and the places that try parts out.
COMPOSERS = ("bot.app", "bot.cli", "bot.lab", "bot.store.url", "bot.walrus_place")
# A foreign package, and the only places that know it.
FOREIGN = {
    "telegram": ("bot.telegram", "bot.inbound", "bot.app", "bot.lab"),
    "telegramify_markdown": ("bot.telegram",),
    "openai": ("bot.model",),
    "aiosqlite": ("bot.store", "memory.backends"),
    "psycopg": ("bot.store", "memory.backends"),
    "typer": ("bot.cli",),
    "rich": ("bot.cli", "bot.lab"),
    "starlette": ("bot.lab", "bot.telegram", "bot.app"),
    "pydantic_settings": ("bot.settings",),
}


def within(module: str, packages: tuple[str, ...]) -> bool:
    return any(module == each or module.startswith(f"{each}.") for each in packages)


def beside(module: str, target: str) -> bool:
    """Whether both lie in the same folder below the top one."""
    folder = module.rpartition(".")[0]
    return "." in folder and within(target, (folder,))


def modules() -> Iterator[tuple[str, Path]]:
    for package in ("bot", "memory"):
        for path in sorted((ROOT / package).rglob("*.py")):
            parts = path.relative_to(ROOT).with_suffix("").parts
            yield ".".join(parts).removesuffix(".__init__"), path


def imports(path: Path) -> Iterator[str]:
    """The modules that a file imports; `from a import b` may mean a.b, so it counts as both."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


EDGES = [(module, target) for module, path in modules() for target in imports(path)]


def test_the_core_imports_the_standard_library_and_itself() -> None:
    allowed = (*sys.stdlib_module_names, "bot.core")
    forbidden = ("asyncio", "socket", "sqlite3", "time", "random", "logging", "threading")
    assert [
        (module, target)
        for module, target in EDGES
        if within(module, ("bot.core",))
        and ((target != "bot" and not within(target, allowed)) or within(target, forbidden))
    ] == []


def test_memory_knows_nothing_of_the_bot() -> None:
    assert [
        (module, target)
        for module, target in EDGES
        if within(module, ("memory",)) and within(target, ("bot",))
    ] == []


def test_only_the_composition_root_names_adapters() -> None:
    assert [
        (module, target)
        for module, target in EDGES
        if within(target, ADAPTERS)
        and not within(module, COMPOSERS)
        and not within(module, ADAPTERS)
        and not beside(module, target)
    ] == []


@pytest.mark.parametrize("package", FOREIGN)
def test_a_foreign_package_is_known_in_its_adapters_only(package: str) -> None:
    assert [
        (module, target)
        for module, target in EDGES
        if within(target, (package,)) and not within(module, FOREIGN[package])
    ] == []


def test_the_parts_do_not_import_the_whole() -> None:
    parts = ("bot.store", "bot.model", "bot.telegram", "bot.core", "memory")
    above = ("bot.app", "bot.cli", "bot.lab", "bot.__main__")
    assert [
        (module, target)
        for module, target in EDGES
        if within(module, parts) and within(target, above)
    ] == []


@pytest.mark.parametrize(
    ("module", "slow"),
    [
        ("bot.__main__", ("openai", "telegram", "typer", "starlette", "psycopg", "httpx", "rich")),
        ("bot.app", ("openai", "typer", "starlette", "uvicorn", "psycopg")),
    ],
)
def test_a_start_does_without_the_slow_packages(module: str, slow: tuple[str, ...]) -> None:
    script = f"import sys, {module}; print([m for m in {slow!r} if m in sys.modules])"
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert found.stdout.strip() == "[]"
