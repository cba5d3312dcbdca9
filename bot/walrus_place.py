"""The Walrus Memory that MEMORY_URL, MEMORY_KEY and MEMORY_ACCOUNT name."""

import time
from urllib.parse import urlsplit

from bot.errors import Misconfigured
from bot.settings import Settings, on_own_network
from memory.backends.walrus import WalrusBackend
from memory.backends.walrus_keys import KeyRefused, Signer

PREFIX = "walrus+"


def is_walrus(url: str) -> bool:
    return url.startswith(PREFIX)


def open_walrus(settings: Settings, url: str = "") -> WalrusBackend:
    """`url`: instead of MEMORY_URL. Raises Misconfigured. Asks nobody yet."""
    url = (url or settings.memory_url.get_secret_value()).removeprefix(PREFIX)
    if urlsplit(url).scheme == "http" and not on_own_network(url):
        raise _wrong(
            "MEMORY_URL must begin with walrus+https:// unless the relayer is near", "MEMORY_URL"
        )
    key = settings.memory_key.get_secret_value()
    if not key:
        raise _wrong("MEMORY_KEY is missing: a delegate key of the Walrus Memory account")
    if not settings.memory_account:
        raise _wrong("MEMORY_ACCOUNT is missing: the id of the MemWalAccount", "MEMORY_ACCOUNT")
    try:
        signer = Signer.of(key, settings.memory_account)
    except KeyRefused as error:
        raise _wrong(f"MEMORY_KEY is not usable: {error}") from error
    return WalrusBackend(url, signer, clock=time.time)


def _wrong(sentence: str, setting: str = "MEMORY_KEY") -> Misconfigured:
    return Misconfigured(f"{sentence}.", setting=setting)
