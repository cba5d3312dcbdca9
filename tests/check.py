"""Everything that must hold, in one command: `python -m tests.check`.

Formatting, lint, import rules, strict types and the whole test suite; the same in CI. All of
them run, so that one look shows all that is wrong. Further words go to pytest, and with some
only the tests that they name run: `python -m tests.check tests/core -x`. `--fix` first repairs
what can be repaired.
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
PYTHON = sys.executable
LINT_IMPORTS = "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"

REPAIRS = {
    "repair lint": [PYTHON, "-m", "ruff", "check", "--fix", "--quiet", "."],
    "repair formatting": [PYTHON, "-m", "ruff", "format", "--quiet", "."],
}
CHECKS = {
    "formatting": [PYTHON, "-m", "ruff", "format", "--check", "."],
    "lint": [PYTHON, "-m", "ruff", "check", "."],
    "import rules": [PYTHON, "-c", LINT_IMPORTS],
    "types": [PYTHON, "-m", "mypy"],
}
TESTS = [PYTHON, "-m", "pytest", "-q", "-n", "2"]


def main(words: list[str]) -> int:
    fix = "--fix" in words
    chosen = [word for word in words if word != "--fix"]
    steps = {**(REPAIRS if fix else {}), **CHECKS, "tests": [*TESTS, *chosen]}
    failed = [name for name, step in steps.items() if not run(name, step)]
    if failed:
        print(f"\nNot all is well: {', '.join(failed)}")
    return 1 if failed else 0


def run(name: str, step: list[str]) -> bool:
    print(f"\n--- {name}", flush=True)
    return subprocess.run(step, cwd=ROOT, check=False).returncode == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
