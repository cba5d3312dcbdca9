"""Questions and answers on a terminal, or over pipes when a script or a test answers."""

import getpass
import sys
from dataclasses import dataclass, field
from typing import TextIO

from bot.errors import Misconfigured


@dataclass(frozen=True, slots=True)
class Terminal:
    input: TextIO = field(default_factory=lambda: sys.stdin)
    output: TextIO = field(default_factory=lambda: sys.stdout)

    def say(self, text: str = "") -> None:
        print(text, file=self.output, flush=True)

    def ask(self, question: str, default: str = "") -> str:
        """Return the answer, or the default for an empty one."""
        hint = f" [{default}]" if default else ""
        print(f"{question}{hint}: ", end="", file=self.output, flush=True)
        return self._line(question) or default

    def ask_hidden(self, question: str, default: str = "", *, kept: str = "") -> str:
        """Like `ask`, without showing what is typed, nor the default (`kept` names it)."""
        prompt = f"{question} [{kept}]: " if kept else f"{question}: "
        if self.input.isatty():
            return getpass.getpass(prompt).strip() or default
        print(prompt, end="", file=self.output, flush=True)
        return self._line(question) or default

    def confirm(self, question: str) -> bool:
        """A yes-or-no question; Enter means yes."""
        return self.ask(f"{question} [Y/n]").lower() not in ("n", "no")

    def _line(self, question: str) -> str:
        line = self.input.readline()
        if not line:
            raise Misconfigured(f"Setup has no answer to “{question}”: its input ended.")
        return line.strip()
