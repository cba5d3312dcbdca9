"""Browser tests run where a Chromium is found; where none is, one line says they were left out.

DABIR_REQUIRE_BROWSER=1 makes that an error instead: a check that should have looked must not pass
without looking.
"""

import importlib.util
import os
from pathlib import Path

import pytest

from tests.chromium import chromium

REQUIRE = "DABIR_REQUIRE_BROWSER"
BROWSER_TESTS = Path(__file__).parent / "browser"


def missing() -> str:
    """What the browser tests lack here; nothing if they can run."""
    if importlib.util.find_spec("playwright") is None:
        return "the package playwright is not installed"
    return "" if chromium() else "no Chromium was found"


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get(REQUIRE) and (lacking := missing()):
        raise pytest.UsageError(f"{REQUIRE} is set, but {lacking}.")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = [item for item in items if item.get_closest_marker("browser")]
    if left_out and missing():
        items[:] = [item for item in items if item not in left_out]
        config.hook.pytest_deselected(items=left_out)


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if _asked_for(config) and (lacking := missing()):
        terminalreporter.write_line(f"The browser tests were left out: {lacking}.")


def _asked_for(config: pytest.Config) -> bool:
    asked = [(config.invocation_params.dir / each.split("::")[0]).resolve() for each in config.args]
    return any(
        BROWSER_TESTS.is_relative_to(each) or each.is_relative_to(BROWSER_TESTS) for each in asked
    )
