"""Every variable of `.env.example`, read and checked once, then frozen.

The environment wins over `.env`; an empty value counts as unset. What is wrong becomes one
sentence a setting. A sentence never repeats the value of a secret.
"""

import ipaddress
import re
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

from dotenv.parser import parse_stream
from pydantic import BeforeValidator, SecretStr, ValidationError
from pydantic_core import ErrorDetails
from pydantic_settings import (
    BaseSettings,
    EnvSettingsSource,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from bot.errors import Misconfigured
from bot.forms import (
    Access,
    Address,
    count,
    matching,
    one_of,
    parse_access,
    parse_address,
    parse_http_url,
    parse_ids,
    parse_patterns,
    parse_prompt,
    parse_words,
    parse_zone,
    seconds,
    setting,
)

ENV_FILE = Path(".env")
DEFAULT_SYSTEM_PROMPT = (
    "You are a helpful assistant on Telegram. Answer in the language of the person who writes, "
    "briefly and plainly. Say so when you do not know something."
)
# The schemes for which a memory backend exists.
MEMORY_SCHEMES = ("file", "sqlite", r"walrus\+https?")


HttpUrl: TypeAlias = Annotated[str, BeforeValidator(parse_http_url)]
HTTP_ADDRESS = "an address such as https://example.org/v1"
UNSET = SecretStr("")


class Settings(BaseSettings):
    """The checked settings. Secrets are `SecretStr`: `repr` and logs show only asterisks."""

    model_config = SettingsConfigDict(
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        hide_input_in_errors=True,
        validate_default=True,
    )

    # Telegram
    telegram_bot_token: Annotated[
        SecretStr,
        matching(r"([0-9]{1,20}:[A-Za-z0-9_-]{3,})?", "it does not look like a bot token"),
    ] = setting(
        UNSET,
        "the token that @BotFather gave you: digits, a colon, letters and digits",
        "The bot's token from @BotFather. Required.",
    )
    telegram_api_url: HttpUrl = setting(
        "https://api.telegram.org",
        HTTP_ADDRESS,
        "Where the Bot API is: Telegram's own, or a server of yours.",
    )
    telegram_webhook_url: HttpUrl = setting(
        "",
        "a public https:// address, or nothing for polling",
        "Receive updates at this public address instead of polling for them. Without effect in"
        " this version.",
    )
    telegram_webhook_secret: Annotated[
        SecretStr, matching(r"[A-Za-z0-9_-]{0,256}", "it holds other characters or is too long")
    ] = setting(
        UNSET,
        "1 to 256 letters, digits, - and _",
        "Proves that a webhook call comes from Telegram. Required with a webhook.",
    )
    telegram_webhook_listen: Annotated[Address, NoDecode, BeforeValidator(parse_address)] = setting(
        Address("127.0.0.1", 8080), "host:port", "Where the webhook server listens."
    )
    telegram_proxy: Annotated[SecretStr, matching(r"(https?://\S+)?", "it is no proxy address")] = (
        setting(
            UNSET,
            "an address such as http://127.0.0.1:3128",
            "Reach Telegram through this HTTP proxy.",
        )
    )
    telegram_messages_per_second: float = setting(
        30.0,
        "a number from 1 to 1000",
        "Sending limit over all chats. Telegram allows a bot 30 a second.",
        ge=1,
        le=1000,
        allow_inf_nan=False,
    )
    telegram_late_seconds: float = seconds(
        10.0,
        "How long Telegram may take over a message that it never answered for. One that is not"
        " found by then is sent again.",
        at_most=3600,
    )

    # Model
    model_base_url: HttpUrl = setting(
        "https://api.deepseek.com",
        HTTP_ADDRESS,
        "Any OpenAI-compatible endpoint: DeepSeek, OpenAI, OpenRouter, Ollama, llama.cpp, vLLM…",
    )
    model_api_key: Annotated[
        SecretStr, matching(r"[!-~]*", "it holds spaces or other unusual characters")
    ] = setting(
        UNSET,
        "the key from your model provider, without spaces",
        "The endpoint's key. Required unless the endpoint is on this machine or its network.",
    )
    model_name: Annotated[str, matching(r"\S{1,200}", "it is no model name")] = setting(
        "deepseek-chat", "the model's name without spaces", "Which model answers."
    )
    model_timeout: float = seconds(
        60, "How long one answer may take, from first to last word.", at_least=0.1, at_most=600
    )
    model_max_messages: int = count(
        40, "How many earlier messages the model sees at most.", at_least=1, at_most=1000
    )
    model_context_tokens: int = count(
        16000,
        "How many tokens a prompt may take, by a cautious estimate. Set it below the context of a"
        " small local model, which would cut the prompt silently.",
        at_least=1000,
        at_most=2_000_000,
    )
    model_system_prompt: Annotated[str, BeforeValidator(parse_prompt)] = setting(
        DEFAULT_SYSTEM_PROMPT,
        "some text, or @ and the path of a text file",
        "What the model is told about its job.",
    )

    # Moderation
    moderation: Annotated[
        Literal["rules", "endpoint", "model"], one_of("rules", "endpoint", "model")
    ] = setting(
        "rules",
        "rules, endpoint or model",
        "Who judges a draft before anyone sees it: the built-in rules alone, a moderation endpoint"
        " as well, or the model as well.",
    )
    moderation_base_url: HttpUrl = setting(
        "", HTTP_ADDRESS, "The moderation endpoint. By default the model's base URL."
    )
    moderation_timeout: float = seconds(
        10, "How long the judgement may take.", at_least=0.1, at_most=600
    )
    moderation_words: Annotated[tuple[str, ...], NoDecode, BeforeValidator(parse_words)] = setting(
        (),
        "words with commas between them, or @ and the path of a text file",
        "Words that no answer may contain.",
    )
    moderation_patterns: Annotated[
        tuple[re.Pattern[str], ...], NoDecode, BeforeValidator(parse_patterns)
    ] = setting(
        (),
        "@ and the path of a text file with one regular expression a line",
        "Patterns that no answer may match.",
    )

    # People
    owner_id: int | None = setting(
        None,
        "a Telegram user id, such as 123456789",
        "The owner's Telegram user id. By default learnt from the link that setup prints.",
        gt=0,
    )
    operator_chat_id: int | None = setting(
        None,
        "a Telegram chat id, such as -1001234567890",
        "The group of those who take conversations over. By default the owner's private chat."
        " Without effect in this version.",
    )
    operators: Annotated[frozenset[int], NoDecode, BeforeValidator(parse_ids)] = setting(
        frozenset(),
        "Telegram user ids with commas between them",
        "Who may take conversations over, besides the owner.",
    )
    access: Annotated[Access, NoDecode, BeforeValidator(parse_access)] = setting(
        "owner",
        "owner, public, or Telegram user ids with commas between them",
        "Who may talk to the bot: only the owner, everybody, or the owner and these.",
    )

    # Storage
    database_url: Annotated[
        SecretStr,
        matching(r"sqlite:///[^?#]+|postgres(ql)?://\S+", "it is no database address"),
    ] = setting(
        SecretStr("sqlite:///data/dabir.db"),
        "sqlite:///path (one slash more for an absolute path) or postgresql://…",
        "Where everything is kept. The SQLite file is created on first start.",
    )
    memory_url: Annotated[
        SecretStr,
        matching(rf"(({'|'.join(MEMORY_SCHEMES)})://\S+)?", "no memory backend has this form"),
    ] = setting(
        UNSET,
        "nothing for the database, file:///directory, sqlite:///path, or walrus+https://relayer",
        "Where memory lines are kept. By default in the database.",
    )
    memory_key: Annotated[
        SecretStr,
        matching(r"((0x)?[0-9a-fA-F]{64}|suiprivkey1\w+)?", "it is no delegate key"),
    ] = setting(
        UNSET,
        "64 hex digits or suiprivkey1…",
        "For walrus+https only: a delegate key of the Walrus Memory account.",
    )
    memory_account: Annotated[
        str, matching(r"(0x[0-9a-fA-F]{1,64})?", "it is not the id of an object on Sui")
    ] = setting(
        "",
        "0x and up to 64 hex digits",
        "For walrus+https only: the id of the MemWalAccount, not the wallet's address.",
    )
    memory_secret: Annotated[
        SecretStr, matching(r"(\S{16,})?", "it is shorter than 16 characters or holds spaces")
    ] = setting(
        UNSET,
        "16 or more characters; `dabir setup` makes one",
        "Seals the keys of the memory, and names the memory of each chat. Keep a copy"
        " apart from the database: without it no line can be read again.",
    )

    # Turns and waiting
    debounce_quiet: float = seconds(
        1.5, "Answer when somebody has written nothing for so long.", at_most=60
    )
    debounce_cap: float = seconds(
        8, "Answer after so long at the latest, even if they write on.", at_most=600
    )
    max_restarts: int = count(
        3,
        "How often a new message may make the bot think again before it answers what it has.",
        at_least=0,
        at_most=100,
    )
    max_turn_seconds: float = seconds(90, "The same limit in time.", at_least=1, at_most=3600)
    session_lease_seconds: float = seconds(
        60,
        "After so long another process continues the work of one that died.",
        at_least=1,
        at_most=3600,
    )
    human_lease_seconds: float = seconds(
        1800,
        "A person who took a conversation over and did nothing for so long loses it.",
        at_least=1,
        at_most=604800,
    )
    handoff_reminder_seconds: float = seconds(
        300,
        "Remind the operators of somebody who waits for a person after so long.",
        at_least=1,
        at_most=604800,
    )

    # Surroundings
    timezone: Annotated[ZoneInfo, NoDecode, BeforeValidator(parse_zone)] = setting(
        ZoneInfo("UTC"),
        "a name such as Europe/Berlin, Asia/Tehran or UTC",
        "The time zone of dates and times.",
    )
    language: Annotated[
        str, matching(r"([a-z]{2,3}(-[A-Za-z]{2,8})?)?", "it is no language code")
    ] = setting(
        "",
        "a code such as en or fa, or nothing",
        "One language for all of the bot's own texts. By default each user's Telegram language.",
    )
    log_level: Annotated[
        Literal["DEBUG", "INFO", "WARNING", "ERROR"],
        one_of("DEBUG", "INFO", "WARNING", "ERROR", upper=True),
    ] = setting("INFO", "DEBUG, INFO, WARNING or ERROR", "How much is logged. Never message text.")
    log_format: Annotated[Literal["text", "json"], one_of("text", "json")] = setting(
        "text", "text or json", "The form of log lines, on standard error."
    )
    metrics_listen: Annotated[Address | None, NoDecode, BeforeValidator(parse_address)] = setting(
        None,
        "host:port, or nothing",
        "Serve metrics and health checks at this address. Without effect in this version.",
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Leave out a LANGUAGE that the desktop set for gettext, such as `de_DE:de`: not for us."""
        assert isinstance(env_settings, EnvSettingsSource)
        env_settings.env_vars = {
            name: value
            for name, value in env_settings.env_vars.items()
            if not (name == "language" and re.search("[_:]", value or ""))
        }
        return init_settings, env_settings, dotenv_settings

    @property
    def sqlite_path(self) -> Path | None:
        """The database file, or None with PostgreSQL."""
        scheme, _, path = self.database_url.get_secret_value().partition(":///")
        return Path(path).expanduser() if scheme == "sqlite" else None

    @property
    def data_directory(self) -> Path:
        """Where files of the bot's own go: beside the SQLite file, or `data`."""
        return self.sqlite_path.parent if self.sqlite_path else Path("data")

    @property
    def secrets(self) -> frozenset[str]:
        """The values that must never be seen in a log; of an address only its password."""
        values = [getattr(self, name) for name in type(self).model_fields]
        texts = [each.get_secret_value() for each in values if isinstance(each, SecretStr)]
        found = [(urlsplit(text).password or "") if "://" in text else text for text in texts]
        return frozenset(each for each in found if each)


@dataclass(frozen=True, slots=True)
class Problem:
    """One wrong or missing setting and the sentence that says so."""

    setting: str
    sentence: str


def read(env_file: Path = ENV_FILE) -> tuple[Settings, tuple[Problem, ...]]:
    """Read leniently: each wrong setting is a problem and has its default in the result."""
    problems = _unreadable_lines(env_file)
    usable = None if any(problem.setting == "" for problem in problems) else env_file
    wrong: dict[str, ErrorDetails] = {}
    try:
        return _assemble(usable), tuple(problems)
    except ValidationError as error:
        wrong = {str(each["loc"][0]): each for each in error.errors()}
    problems += [_describe(name, details) for name, details in wrong.items()]
    defaults = {name: Settings.model_fields[name].default for name in wrong}
    return _assemble(usable, **defaults), tuple(problems)


def load(env_file: Path = ENV_FILE) -> Settings:
    """Read strictly, for a bot that is about to start.

    Raises Misconfigured with one line for each setting that is wrong or missing.
    """
    settings, problems = read(env_file)
    named = {problem.setting for problem in problems}
    if "DEBOUNCE_QUIET" in named:  # its default was read instead: do not compare with that
        named.add("DEBOUNCE_CAP")
    problems += tuple(each for each in missing(settings) if each.setting not in named)
    if problems:
        raise Misconfigured(
            "\n".join(problem.sentence for problem in problems), setting=problems[0].setting
        )
    return settings


def missing(settings: Settings) -> tuple[Problem, ...]:
    """What a bot needs and these settings do not have, or contradict each other about."""
    checks: tuple[tuple[bool, str, str], ...] = (
        (
            not settings.telegram_bot_token,
            "TELEGRAM_BOT_TOKEN",
            "is missing: run `dabir setup`, or set it to the token from @BotFather.",
        ),
        (
            not settings.model_api_key and not on_own_network(settings.model_base_url),
            "MODEL_API_KEY",
            "is missing: run `dabir setup`, or set it to your model provider's key.",
        ),
        (
            bool(settings.telegram_webhook_url) and not settings.telegram_webhook_secret,
            "TELEGRAM_WEBHOOK_SECRET",
            "is missing: TELEGRAM_WEBHOOK_URL needs it; use 1 to 256 letters, digits, - and _.",
        ),
        (
            settings.debounce_cap < settings.debounce_quiet,
            "DEBOUNCE_CAP",
            f"is {settings.debounce_cap:g}, less than DEBOUNCE_QUIET"
            f" ({settings.debounce_quiet:g}); use the same or more.",
        ),
    )
    return tuple(Problem(name, f"{name} {says}") for wrong, name, says in checks if wrong)


def on_own_network(url: str) -> bool:
    """Whether an address is on this machine or its private network, where keys are not usual."""
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith((".local", ".lan", ".internal", ".localhost"))
    return address.is_loopback or address.is_private


def _unreadable_lines(env_file: Path) -> list[Problem]:
    try:
        text = env_file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        cause = type(error).__name__
        return [Problem("", f"{env_file} cannot be read ({cause}); make it a UTF-8 text file.")]
    return [
        Problem(
            f"{env_file}:{binding.original.line}",
            f"{env_file} line {binding.original.line} is no setting; write NAME=value.",
        )
        for binding in parse_stream(StringIO(text))
        if binding.error
    ]


def _assemble(env_file: Path | None, **values: Any) -> Settings:
    source: dict[str, Any] = {"_env_file": env_file, "_env_file_encoding": "utf-8-sig"}
    return Settings(**source, **values)


def _describe(name: str, details: ErrorDetails) -> Problem:
    field = Settings.model_fields[name]
    extra = field.json_schema_extra
    assert isinstance(extra, dict)
    problem = details["msg"].removeprefix("Value error, ")
    if details["type"] != "value_error":  # pydantic's own words know neither limits nor units
        out_of_range = details["type"].startswith(("greater", "less"))
        problem = "that is out of range" if out_of_range else "that is no such number"
    if isinstance(field.default, SecretStr):
        shown = "wrong (its value is not shown)"
    else:
        shown = _shorten(str(details["input"]))
    sentence = f"{name.upper()} is {shown}, but {problem}; use {extra['allowed']}."
    return Problem(name.upper(), sentence)


def _shorten(value: str) -> str:
    if "://" in value and "@" in value:
        return "wrong (its value is not shown)"  # an address that may hold a password
    return repr(value if len(value) <= 60 else value[:59] + "…")
