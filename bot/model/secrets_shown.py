"""Finds keys and tokens in a text: the host's own exactly, everybody's by their shape.

A placeholder ("sk-xxxxxxxx…") is no secret: people ask how to fill in a configuration file.
"""

import re
from collections.abc import Iterable, Iterator

from bot.model.normal_form import squeezed, visible

# Name of the rule → shape. Shapes are those that the issuers publish for secret scanners.
SHAPES: dict[str, re.Pattern[str]] = {
    "openai_key": re.compile(r"(?<![A-Za-z0-9])sk-[A-Za-z0-9_-]{20,}"),
    "stripe_key": re.compile(r"(?<![A-Za-z0-9])[rs]k_live_[A-Za-z0-9]{20,}"),
    "telegram_token": re.compile(r"(?<!\d)\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])"),
    "aws_key": re.compile(r"(?<![A-Za-z0-9])A(?:KIA|SIA)[0-9A-Z]{16}(?![A-Za-z0-9])"),
    "aws_secret": re.compile(
        r"aws_?secret_?(?:access_?)?key[\"'`]?\s{0,4}[:=]\s{0,4}[\"'`]?[A-Za-z0-9/+]{40}", re.I
    ),
    "github_token": re.compile(
        r"(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{40,})"
    ),
    "gitlab_token": re.compile(r"(?<![A-Za-z0-9])glpat-[A-Za-z0-9_-]{20,}"),
    "slack_token": re.compile(r"(?<![A-Za-z0-9])xox[abeprs]-[A-Za-z0-9-]{20,}"),
    "google_key": re.compile(r"(?<![A-Za-z0-9])AIza[0-9A-Za-z_-]{35}"),
    "huggingface_token": re.compile(r"(?<![A-Za-z0-9])hf_[A-Za-z0-9]{30,}"),
    "jwt": re.compile(
        r"(?<![A-Za-z0-9])eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{16,}"
    ),
    "private_key": re.compile(
        r"-----BEGIN [A-Z ]{0,30}PRIVATE KEY(?: BLOCK)?-----(?:\s|\\n|[\w-]+: [^\n]*\n){1,20}"
        r"[A-Za-z0-9+/=]{16}"
    ),
}

PLACEHOLDER = re.compile(r"x{6,}|\*{4,}|\.{4,}|example|your[_-]|placeholder|1234567890", re.I)
FEW_CHARACTERS = 7  # a real key of this length draws on far more

TELLING_LENGTH = 8  # letters and digits; shorter ones are found in ordinary text by chance
WORDS_LENGTH = 20  # without a digit, "ollama" or "not-needed" are words, not secrets


def shapes_shown(text: str) -> Iterator[str]:
    """Names of the shapes that the text shows, zero-width characters or not."""
    seen = visible(text).replace("\u200c", "")
    for name, shape in SHAPES.items():
        if any(not _is_placeholder(match[0]) for match in shape.finditer(seen)):
            yield name


class OwnSecrets:
    """The host's own secrets. Shown whole, in any case, spaced or split: it is a leak."""

    def __init__(self, secrets: Iterable[str]) -> None:
        told = [secret.strip() for secret in secrets if _has_digit_or_length(secret)]
        forms = {secret: squeezed(secret) for secret in told}
        self._squeezed = {form for form in forms.values() if len(form) >= TELLING_LENGTH}
        self._short = [
            re.compile(rf"(?<!\w){re.escape(secret)}(?!\w)")
            for secret, form in forms.items()
            if 4 <= len(form) < TELLING_LENGTH
        ]

    def shown(self, text: str) -> bool:
        form = squeezed(text)
        plain = visible(text)
        return any(secret in form for secret in self._squeezed) or any(
            secret.search(plain) for secret in self._short
        )


def _has_digit_or_length(secret: str) -> bool:
    form = squeezed(secret)
    return len(form) >= WORDS_LENGTH or any(char.isdigit() for char in form)


def _is_placeholder(found: str) -> bool:
    if found.startswith("-----"):
        return False
    if PLACEHOLDER.search(found):
        return True
    body = found.rpartition("_" if "_" in found[:12] else "-")[2] or found
    return len(set(body)) < FEW_CHARACTERS or (
        found.startswith("sk-") and not any(char.isdigit() for char in found)
    )
