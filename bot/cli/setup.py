"""`dabir setup`: asks, checks each answer where it will be used, and writes `.env`.

Rule 1: nothing is written before everything was asked, so stopping in the middle harms nothing.
Rule 2: it can be run again at any time; what is there already is offered as the answer.
"""

import asyncio
import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from io import StringIO
from pathlib import Path

from dotenv import dotenv_values

from bot.cli import env_file, owner_code
from bot.cli.model_check import check_model
from bot.cli.telegram_check import BotApi
from bot.cli.terminal import Terminal
from bot.errors import Misconfigured, Refused, RetryLater
from bot.forms import parse_http_url, parse_zone
from bot.settings import ENV_FILE, Settings, on_own_network, read

MODEL_CHECK_SECONDS = 60.0  # a model on one's own machine may have to be loaded first


@dataclass(frozen=True, slots=True)
class Provider:
    name: str
    base_url: str
    model: str


PROVIDERS = (
    Provider("DeepSeek", "https://api.deepseek.com", "deepseek-chat"),
    Provider("OpenAI", "https://api.openai.com/v1", "gpt-4o-mini"),
    Provider("OpenRouter", "https://openrouter.ai/api/v1", "openrouter/auto"),
    Provider("Ollama on this machine", "http://localhost:11434/v1", "qwen3"),
    Provider("another OpenAI-compatible endpoint", "", ""),
)


def run(
    terminal: Terminal | None = None, path: Path = ENV_FILE, *, starts_bot: bool = False
) -> int:
    """Go through setup; return 0 when `.env` is written, 1 when the person decided otherwise.

    Raises Misconfigured when the input ends early or `.env` cannot be read or written.
    """
    terminal = terminal or Terminal()
    text = _read_text(path)
    present = {name: value or "" for name, value in dotenv_values(stream=StringIO(text)).items()}
    settings, _ = read(path)
    terminal.say("Setting up Dabir. Enter keeps what stands in [brackets]; Ctrl-C changes nothing.")
    bot = ask_for_bot(terminal, settings)
    if bot is None:
        return 1
    answers = {
        "TELEGRAM_BOT_TOKEN": bot.token,
        **ask_for_model(terminal, settings),
        "TIMEZONE": ask_for_zone(terminal, present.get("TIMEZONE") or guess_zone()),
        "MEMORY_SECRET": present.get("MEMORY_SECRET") or secrets.token_urlsafe(32),
    }
    if not _may_replace(terminal, present, answers, path):
        terminal.say("Nothing was changed.")
        return 1
    env_file.write(path, env_file.changed(text, answers))
    terminal.say(f"\n{path} is written; only your account can read it.")
    terminal.say(
        "Keep a copy of it somewhere safe, away from the database: without its MEMORY_SECRET"
        " nothing that the bot remembers can be read again."
    )
    _warn_of_environment(terminal, answers)
    _show_way_on(terminal, read(path)[0], bot.name, starts_bot=starts_bot)
    return 0


@dataclass(frozen=True, slots=True)
class CheckedBot:
    token: str
    name: str


def ask_for_bot(terminal: Terminal, settings: Settings) -> CheckedBot | None:
    """Ask for the token until Telegram knows it; None if the person gives up."""
    terminal.say("\n1. The bot. In Telegram, send /newbot to @BotFather; it gives you a token.")
    present = settings.telegram_bot_token.get_secret_value()
    proxy = settings.telegram_proxy.get_secret_value()
    while True:
        kept = "keep the present one" if present else ""
        token = terminal.ask_hidden("Bot token", present, kept=kept)
        if not token:
            continue
        try:
            answer = asyncio.run(BotApi(settings.telegram_api_url, token, proxy).get_me())
        except Refused as error:
            terminal.say(f"   {error}. Copy the whole line that @BotFather sent.")
            present = ""
            continue
        except RetryLater as error:
            terminal.say(f"   {error}. Is this machine online? TELEGRAM_PROXY sets a proxy.")
            if terminal.confirm("Try again?"):
                continue
            terminal.say("Nothing was changed.")
            return None
        name = str(answer.result.get("username", ""))
        terminal.say(f"   This is @{name}.")
        return CheckedBot(token, name)


def ask_for_model(terminal: Terminal, settings: Settings) -> dict[str, str]:
    """Ask for endpoint, model and key until a tiny call works, or the person keeps them as is."""
    terminal.say("\n2. The model that answers.")
    while True:
        provider = _ask_for_provider(terminal, settings)
        base_url = provider.base_url
        if on_own_network(base_url) or provider not in PROVIDERS:
            base_url = _ask_for_url(terminal, base_url)
        unchanged = base_url == settings.model_base_url
        suggested = settings.model_name if unchanged else provider.model
        while not (model := terminal.ask("Model name", suggested)):
            terminal.say("   The endpoint needs to know which model; it has no default name.")
        key = _ask_for_key(terminal, settings, base_url)
        terminal.say("   Asking the model for one word…")
        problem = asyncio.run(
            check_model(base_url, key, model, timeout_seconds=MODEL_CHECK_SECONDS)
        )
        if problem is None:
            terminal.say("   It answers.")
        else:
            terminal.say(f"   It does not work yet: {problem}.")
        if problem is None or not terminal.confirm("Change these answers?"):
            return {"MODEL_BASE_URL": base_url, "MODEL_NAME": model, "MODEL_API_KEY": key}


def _ask_for_provider(terminal: Terminal, settings: Settings) -> Provider:
    for number, provider in enumerate(PROVIDERS, 1):
        terminal.say(f"   {number}  {provider.name}")
    present = [p.base_url for p in PROVIDERS]
    known = settings.model_base_url in present
    default = present.index(settings.model_base_url) + 1 if known else len(PROVIDERS)
    while True:
        choice = terminal.ask("Which one", str(default))
        if choice.isascii() and choice.isdigit() and 1 <= int(choice) <= len(PROVIDERS):
            break
        terminal.say(f"   Please answer with a number from 1 to {len(PROVIDERS)}.")
    chosen = PROVIDERS[int(choice) - 1]
    if chosen.base_url or known:
        return chosen
    return Provider(chosen.name, settings.model_base_url, settings.model_name)


def _ask_for_url(terminal: Terminal, default: str) -> str:
    while True:
        try:
            url = parse_http_url(terminal.ask("Its base URL", default))
        except ValueError as error:
            terminal.say(f"   That does not work: {error}.")
            continue
        if url:
            return url


def _ask_for_key(terminal: Terminal, settings: Settings, base_url: str) -> str:
    """The present key is offered only for the endpoint that it belongs to."""
    present = settings.model_api_key.get_secret_value()
    if not present or base_url != settings.model_base_url:
        present = ""
    optional = on_own_network(base_url)
    kept = "keep the present one" if present else "none" if optional else ""
    while True:
        key = terminal.ask_hidden("API key", present, kept=kept)
        if key or optional:
            return key


def ask_for_zone(terminal: Terminal, default: str) -> str:
    terminal.say("\n3. Your time zone, for dates and reminders.")
    while True:
        name = terminal.ask("Time zone", default)
        try:
            return parse_zone(name).key
        except ValueError:
            terminal.say("   Please use a name such as Europe/Berlin, Asia/Tehran or UTC.")


def guess_zone(
    environment: Mapping[str, str] = os.environ, localtime: Path = Path("/etc/localtime")
) -> str:
    """The machine's time zone as a name, or UTC where it cannot be told."""
    for name in (environment.get("TZ", ""), str(localtime.resolve()).partition("zoneinfo/")[2]):
        try:
            return parse_zone(name).key
        except ValueError:
            continue
    return "UTC"


def _read_text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return "# Settings of Dabir. docs/settings.md explains all of them.\n"
    except (OSError, UnicodeDecodeError) as error:
        cause = type(error).__name__
        raise Misconfigured(
            f"{path} cannot be read ({cause}); move it away and run setup again."
        ) from error


def _may_replace(
    terminal: Terminal, present: Mapping[str, str], answers: Mapping[str, str], path: Path
) -> bool:
    other = [name for name in answers if present.get(name) not in (None, "", answers[name])]
    return not other or terminal.confirm(f"\nReplace {', '.join(other)} in {path}?")


def _warn_of_environment(terminal: Terminal, answers: Mapping[str, str]) -> None:
    for name, value in answers.items():
        if os.environ.get(name) not in (None, "", value):
            terminal.say(f"! {name} is also set in the environment, which wins over .env.")


def _show_way_on(
    terminal: Terminal, settings: Settings, bot_name: str, *, starts_bot: bool
) -> None:
    terminal.say("Dabir starts now." if starts_bot else "Start it with: dabir")
    if settings.owner_id is not None:
        return
    code = owner_code.issue(settings.data_directory)
    terminal.say("Then open this link and press Start. Whoever opens it first owns the bot:")
    terminal.say(f"\n   {owner_code.link(bot_name, code)}\n")
