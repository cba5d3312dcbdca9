"""Who plays in the demo, and the settings their bot is given."""

import os
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from bot.errors import Misconfigured
from bot.lab.botapi import LAB_TOKEN
from bot.settings import Settings, missing, read

PASSED_ON = ("model_timeout", "model_max_messages", "model_context_tokens", "model_system_prompt")


@dataclass(frozen=True, slots=True)
class Person:
    id: int
    name: str
    language: str
    about: str
    suggestions: tuple[str, ...] = ()  # what could be written, offered above the input field


AT_THE_DESK = ("/queue", "/release", "/help")
OWNER = Person(100, "Nora", "en", "owns the bot and helps people", AT_THE_DESK)
OPERATORS = (OWNER, Person(104, "Omid", "en", "helps people", AT_THE_DESK))
GROUP_ID = -1_002_000_000_100  # the operators' group
USERS = (
    Person(
        101,
        "Sam",
        "en",
        "writes in English",
        (
            "Hello!",
            "Remember that my sister is called Leila",
            "What do you know about me?",
            "Add a task: call the dentist tomorrow",
            "/tasks",
            "/human",
        ),
    ),
    Person(
        102,
        "لیلا",
        "fa",
        "writes in Persian",
        (
            "سلام!",
            "یادت باشد که خواهرم در شیراز زندگی می‌کند",
            "درباره‌ی من چه می‌دانی؟",
            "/tasks",
            "/human",
        ),
    ),
    Person(103, "Max", "en", "is not on the list: a stranger", ("Hello?", "/start")),
)
ADMITTED = (101, 102)
PEOPLE = {person.id: person for person in (*USERS, *OPERATORS)}


@dataclass(frozen=True, slots=True)
class RealModel:
    """An endpoint of the host's own, which the demo uses in place of the practice model."""

    name: str
    environment: Mapping[str, str]


def real_model(env_file: Path = Path(".env")) -> RealModel | None:
    """The endpoint in the environment or `.env`, if there is one. Raises Misconfigured."""
    settings, problems = read(env_file)
    if not {"model_api_key", "model_base_url"} & settings.model_fields_set:
        return None
    wrong = [each for each in (*problems, *missing(settings)) if each.setting.startswith("MODEL_")]
    if wrong:
        raise Misconfigured("\n".join(each.sentence for each in wrong), setting=wrong[0].setting)
    given = {
        "MODEL_BASE_URL": settings.model_base_url,
        "MODEL_API_KEY": settings.model_api_key.get_secret_value(),
        "MODEL_NAME": settings.model_name,
        **{name.upper(): str(getattr(settings, name)) for name in PASSED_ON},
    }
    return RealModel(settings.model_name, given)


@dataclass(frozen=True, slots=True)
class Addresses:
    """Where the lab's servers are."""

    telegram: str
    model: str
    moderation: str


def environment(
    addresses: Addresses, database: Path, memory_secret: str, model: RealModel | None
) -> dict[str, str]:
    """The environment of the bot's process: this one's, with no setting but those of the demo."""
    names = {name.upper() for name in Settings.model_fields}
    kept = {name: value for name, value in os.environ.items() if name.upper() not in names}
    practice = {"MODEL_BASE_URL": f"{addresses.model}/v1", "MODEL_NAME": "practice"}
    return {
        **kept,
        "NO_PROXY": ",".join(filter(None, ("127.0.0.1", os.environ.get("NO_PROXY", "")))),
        "TELEGRAM_BOT_TOKEN": LAB_TOKEN,
        "TELEGRAM_API_URL": addresses.telegram,
        **(practice if model is None else model.environment),
        "MODERATION": "endpoint",
        "MODERATION_BASE_URL": f"{addresses.moderation}/v1",
        "MODERATION_TIMEOUT": "5",
        "OWNER_ID": str(OWNER.id),
        "OPERATORS": ",".join(str(each.id) for each in OPERATORS if each is not OWNER),
        "OPERATOR_CHAT_ID": str(GROUP_ID),
        "ACCESS": ",".join(map(str, ADMITTED)),
        "DATABASE_URL": f"sqlite:///{database}",
        "MEMORY_SECRET": memory_secret,
        "HANDOFF_REMINDER_SECONDS": "60",
        "LOG_LEVEL": "ERROR",
    }


def new_memory_secret() -> str:
    return secrets.token_hex(32)
