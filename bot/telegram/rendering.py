"""The model's Markdown as Telegram messages.

telegramify-markdown reads the Markdown. What it would lose or what Telegram would scramble is
rewritten before: see markdown.py. Afterwards links that Telegram would refuse go, and lines that
mix directions are isolated: see direction.py.
"""

from urllib.parse import urlsplit

from telegramify_markdown import MessageEntity, RenderConfig, convert

from bot.telegram.characters import sendable
from bot.telegram.direction import isolated
from bot.telegram.markdown import MARKS, readable, restore
from bot.telegram.port import Entity, Part
from bot.telegram.spans import spans_of
from bot.telegram.splitting import split_spans

LINK_SCHEMES = frozenset({"http", "https", "tg", "ton"})
MOST_FORMULAS = 300
# What a text can make the library stumble over; it is then shown as it is.
LIBRARY_FAULTS = (
    AssertionError,
    AttributeError,
    LookupError,
    RecursionError,
    TypeError,
    ValueError,
)


def _symbols() -> RenderConfig:
    config = RenderConfig.isolated()
    symbol = config.markdown_symbol
    symbol.heading_level_1 = symbol.heading_level_2 = ""
    symbol.heading_level_3 = symbol.heading_level_4 = ""
    symbol.unordered_list_item = "•"
    symbol.task_uncompleted = "☐"
    symbol.image = ""
    config.cite_expandable = False
    return config


SYMBOLS = _symbols()


def render(markdown: str) -> tuple[Part, ...]:
    """Return the messages that show this Markdown; () if there is nothing to see in it."""
    text = sendable(markdown).translate(MARKS)
    try:
        shown, entities = convert(readable(text), latex_escape=_is_sane(text), config=SYMBOLS)
    except LIBRARY_FAULTS:
        return plain(text)
    shown, spans = restore(shown, spans_of(shown, map(_entity, filter(_worth, entities))))
    # Nothing but Markdown's own marks, such as three stars: they are then meant as they are.
    return split_spans(*isolated(shown, spans)) or plain(text)


def _is_sane(text: str) -> bool:
    """The library looks for the end of each formula in all of the text: slow with thousands."""
    return text.count("\\(") + text.count("\\[") <= MOST_FORMULAS


def plain(text: str) -> tuple[Part, ...]:
    """Return the text as messages without formatting."""
    return split_spans(*isolated(sendable(text), []))


def _worth(entity: MessageEntity) -> bool:
    """Leave out the underline that the library gives headings (it looks like a link) and links
    that lead nowhere on Telegram."""
    if entity.type == "text_link":
        return is_link(entity.url or "")
    return entity.type != "underline"


def is_link(url: str) -> bool:
    try:
        parts = urlsplit(url)
        has_place = bool(parts.hostname) or parts.scheme in ("tg", "ton")
    except ValueError:
        return False
    return parts.scheme in LINK_SCHEMES and has_place and not any(c.isspace() for c in url)


def _entity(entity: MessageEntity) -> Entity:
    return Entity(
        entity.type,
        entity.offset,
        entity.length,
        entity.url or "",
        entity.language or "",
        entity.custom_emoji_id or "",
    )
