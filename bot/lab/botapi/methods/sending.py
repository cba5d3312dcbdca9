"""Methods that put a new message into a chat."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from bot.lab.botapi import markup as parse_mode
from bot.lab.botapi import media
from bot.lab.botapi.groups import Telegram
from bot.lab.botapi.keyboards import Markup, parse_markup
from bot.lab.botapi.params import Args
from bot.lab.botapi.records import Chat, Json, Message
from bot.lab.botapi.refusals import bad_request, too_many_requests
from bot.lab.botapi.text import MAX_CAPTION, MAX_TEXT, formatted, parse_entities
from bot.lab.botapi.world import ChatAction, Draft

ACTIONS: Final = frozenset(
    {
        "typing",
        "upload_photo",
        "record_video",
        "upload_video",
        "record_voice",
        "upload_voice",
        "upload_document",
        "choose_sticker",
        "find_location",
        "record_video_note",
        "upload_video_note",
    }
)
MAX_ALBUM: Final = 10


# Content


def text_content(args: Args, name: str = "text") -> Json:
    """{text, entities} or {caption, caption_entities}, checked and normalised; {} if empty."""
    return formatted_content(
        args.text(name),
        args.raw("entities" if name == "text" else "caption_entities"),
        args.text("parse_mode"),
        name,
    )


def formatted_content(source: str, entities: Any, mode: str, name: str) -> Json:
    marks, limit = ("entities", MAX_TEXT) if name == "text" else ("caption_entities", MAX_CAPTION)
    if entities:  # as in the real server, parse_mode is ignored then
        text, runs = source, parse_entities(entities)
    else:
        text, runs = parse_mode.parse(source, mode) if mode else (source, [])
    text, runs = formatted(text, runs, limit=limit)
    if not text:
        return {}
    return {name: text, marks: [run.as_json() for run in runs]} if runs else {name: text}


def required_text(args: Args) -> Json:
    if not args.text("text"):
        raise bad_request("message text is empty")
    content = text_content(args)
    if not content:
        raise bad_request("text must be non-empty")
    return content


# Where it goes


@dataclass(frozen=True, slots=True)
class Destination:
    chat: Chat
    thread_id: int
    reply_to: Message | None
    markup: Markup


def destination(world: Telegram, args: Args) -> Destination:
    """The chat, thread and answered message of a send. Raises Refusal, a flood wait last."""
    markup = parse_markup(args.raw("reply_markup"))
    chat = world.chat_to_write(args.raw("chat_id"))
    answered = _answered(chat, args)
    thread_id = _thread(world, chat, args.integer("message_thread_id"), answered)
    if world.limits is not None and (seconds := world.limits.wait(chat.id)):
        raise too_many_requests(seconds)
    return Destination(chat, thread_id, answered, markup)


def _answered(chat: Chat, args: Args) -> Message | None:
    given = args.raw("reply_parameters")
    wanted, lenient = args.integer("reply_to_message_id"), args.flag("allow_sending_without_reply")
    if isinstance(given, dict):
        inner = Args(given)
        wanted = inner.integer("message_id")
        lenient = lenient or inner.flag("allow_sending_without_reply")
    if not wanted:
        return None
    message = chat.messages.get(wanted)
    if message is None and not lenient:
        raise bad_request("message to be replied not found")
    return message


def _thread(world: Telegram, chat: Chat, wanted: int, answered: Message | None) -> int:
    if not wanted:
        if answered is None or not chat.is_forum:
            return 0
        wanted = int(answered.data.get("message_thread_id", 0))
        if not wanted:
            return 0
    elif not chat.is_forum:
        if chat.type == "supergroup" and wanted in chat.messages:
            return wanted  # the thread of replies below that message
        raise bad_request("message thread not found")
    topic = chat.topics.get(wanted)
    if topic is None or topic.deleted:  # the General topic's id, 1, is refused as well
        raise bad_request("message thread not found")
    if topic.closed:
        mine = world.bot_in(chat)
        privileged = topic.creator_id == world.bot.id or mine.can("can_manage_topics")
        if not (privileged and world.admins_write_in_closed_topics):
            raise bad_request("TOPIC_CLOSED")
    return wanted


def deliver(world: Telegram, to: Destination, content: Json, extra: Json | None = None) -> Message:
    if to.markup.inline:
        content = {**content, "reply_markup": to.markup.inline}
    message = world.post(
        to.chat, world.bot, content, thread_id=to.thread_id, reply_to=to.reply_to, extra=extra
    )
    message.reply_keyboard = to.markup.other
    world.drafts.pop(to.chat.id, None)
    return message


# The methods


def send_message(world: Telegram, args: Args) -> Json:
    content = required_text(args)
    return deliver(world, destination(world, args), content).data


def send_message_draft(world: Telegram, args: Args) -> bool:
    """A preview of 30 s in a private chat; not a message, has no id."""
    if not args.integer("draft_id"):
        raise bad_request("draft_id must be non-zero")
    content = text_content(args)
    chat = world.chat_to_write(args.raw("chat_id"))
    if chat.type != "private":
        raise bad_request("drafts can be sent only to private chats")
    world.drafts[chat.id] = Draft(args.integer("draft_id"), content.get("text", ""), world.clock())
    world.changed()
    return True


def send_chat_action(world: Telegram, args: Args) -> bool:
    action = args.text("action")
    if action not in ACTIONS:
        raise bad_request("wrong parameter action in request")
    chat = world.chat_to_write(args.raw("chat_id"))
    thread_id = args.integer("message_thread_id")
    if thread_id and chat.is_forum and thread_id != 1:
        _thread(world, chat, thread_id, None)
    world.actions.append(ChatAction(chat.id, action, thread_id, world.clock()))
    world.changed()
    return True


def _file_content(world: Telegram, args: Args, kind: str, given: Any) -> Json:
    """Media from an upload, a file_id the lab knows, or an address (never fetched)."""
    if given is None and kind not in args.files:
        raise bad_request(f"there is no {kind.replace('_', ' ')} in the request")
    name = str(given or "")
    upload = args.files.get(name.removeprefix("attach://") if name else kind)
    if upload is not None:
        if not upload:
            raise bad_request("file must be non-empty")
        stored = world.store_file(upload, media.FOLDERS[kind], media.SUFFIXES[kind])
    elif name.startswith(("http://", "https://")):
        stored = world.store_file(name.encode(), media.FOLDERS[kind], media.SUFFIXES[kind])
    elif name in world.files:
        stored = world.files[name]
    else:
        raise bad_request("wrong remote file identifier specified: Wrong string length")
    return media.content(world, kind, stored)


def _sender_of_file(kind: str) -> Callable[[Telegram, Args], Json]:
    def send(world: Telegram, args: Args) -> Json:
        content = _file_content(world, args, kind, args.raw(kind))
        if kind in media.CAPTIONED:
            content |= text_content(args, "caption")
        return deliver(world, destination(world, args), content).data

    return send


def send_location(world: Telegram, args: Args) -> Json:
    try:
        place = {name: float(args.raw(name)) for name in ("latitude", "longitude")}
    except (TypeError, ValueError):
        raise bad_request("latitude is empty") from None
    return deliver(world, destination(world, args), {"location": place}).data


def send_contact(world: Telegram, args: Args) -> Json:
    fields = {name: args.text(name) for name in ("phone_number", "first_name")}
    if not all(fields.values()):
        raise bad_request("phone number is empty")
    return deliver(world, destination(world, args), {"contact": fields}).data


def send_dice(world: Telegram, args: Args) -> Json:
    content = media.content(world, "dice", emoji=args.text("emoji", "🎲"))
    return deliver(world, destination(world, args), content).data


def send_poll(world: Telegram, args: Args) -> Json:
    options = args.raw("options")
    if not args.text("question"):
        raise bad_request("message text is empty")
    if not isinstance(options, list) or len(options) < 2:
        raise bad_request("poll must have at least 2 option")
    texts = [entry["text"] if isinstance(entry, dict) else str(entry) for entry in options]
    answers = [
        {"persistent_id": str(number), "text": text, "voter_count": 0}
        for number, text in enumerate(texts, 1)
    ]
    content = media.content(world, "poll", question=args.text("question"), options=answers)
    return deliver(world, destination(world, args), content).data


def send_media_group(world: Telegram, args: Args) -> list[Json]:
    entries = args.raw("media")
    if not isinstance(entries, list) or not entries:
        raise bad_request("there are no messages to send")
    if len(entries) > MAX_ALBUM:
        raise bad_request("too many messages to send as an album")
    contents = [_album_entry(world, args, entry) for entry in entries]
    to = destination(world, args)
    extra = {"media_group_id": str(next(world.numbers) + 13_500_000_000)}
    return [deliver(world, to, content, extra).data for content in contents]


def _album_entry(world: Telegram, args: Args, entry: Any) -> Json:
    if not isinstance(entry, dict) or entry.get("type") not in media.CAPTIONED - {"voice"}:
        raise bad_request("can't use the media of the specified type in the album")
    content = _file_content(world, args, entry["type"], entry.get("media"))
    return content | formatted_content(
        str(entry.get("caption", "")),
        entry.get("caption_entities"),
        str(entry.get("parse_mode", "")),
        "caption",
    )


# Copies and forwards

_ABOUT_THE_MESSAGE: Final = frozenset(
    {
        "message_id",
        "from",
        "chat",
        "date",
        "edit_date",
        "reply_markup",
        "reply_to_message",
        "message_thread_id",
        "is_topic_message",
        "media_group_id",
        "forward_origin",
        "sender_chat",
    }
)


def _content_of(message: Message) -> Json:
    kept = {key: value for key, value in message.data.items() if key not in _ABOUT_THE_MESSAGE}
    return {message.kind: kept.pop(message.kind), **kept}


def _source(world: Telegram, args: Args, message_id: int, verb: str) -> Message:
    if not message_id:
        raise bad_request("message identifier is not specified")
    chat = world.chat_for_bot(args.raw("from_chat_id"))
    message = chat.messages.get(message_id)
    if message is None:
        raise bad_request(f"message to {verb} not found")
    if message.service:
        raise bad_request(f"message can't be {'copied' if verb == 'copy' else 'forwarded'}")
    return message


def _copy(
    world: Telegram, args: Args, to: Destination, source: Message, extra: Json | None = None
) -> Message:
    content = _content_of(source)
    if source.kind in media.CAPTIONED and args.raw("caption") is not None:
        content = {k: v for k, v in content.items() if not k.startswith("caption")}
        content |= text_content(args, "caption")
    return deliver(world, to, content, extra)


def _albums(world: Telegram, sources: list[Message]) -> list[Json]:
    """What is added to each copy or forward: an album stays one, under a new id."""
    groups: dict[str, str] = {}
    extras: list[Json] = []
    for source in sources:
        old = str(source.data.get("media_group_id", ""))
        if old and old not in groups:
            groups[old] = str(next(world.numbers) + 13_500_000_000)
        extras.append({"media_group_id": groups[old]} if old else {})
    return extras


def _forward(
    world: Telegram, to: Destination, source: Message, extra: Json | None = None
) -> Message:
    author = world.users.get(source.author_id)
    origin = source.data.get("forward_origin")
    if origin is None and author is not None and not author.hides_forwards:
        origin = {"type": "user", "date": source.data["date"], "sender_user": author.as_json()}
    elif origin is None:
        name = source.data["from"]["first_name"]
        origin = {"type": "hidden_user", "date": source.data["date"], "sender_user_name": name}
    return deliver(world, to, _content_of(source), {"forward_origin": origin, **(extra or {})})


def copy_message(world: Telegram, args: Args) -> Json:
    source = _source(world, args, args.integer("message_id"), "copy")
    return {"message_id": _copy(world, args, destination(world, args), source).id}


def forward_message(world: Telegram, args: Args) -> Json:
    source = _source(world, args, args.integer("message_id"), "forward")
    return _forward(world, destination(world, args), source).data


def _many(world: Telegram, args: Args, verb: str) -> list[Message]:
    """The messages of a batch that can be taken; those that cannot are skipped."""
    numbers = args.message_ids()
    chat = world.chat_for_bot(args.raw("from_chat_id"))
    found = [chat.messages[n] for n in numbers if n in chat.messages]
    taken = [message for message in found if not message.service]
    if not taken:
        raise bad_request(f"there are no messages to {verb}")
    return taken


def copy_messages(world: Telegram, args: Args) -> list[Json]:
    sources, to = _many(world, args, "copy"), destination(world, args)
    pairs = zip(sources, _albums(world, sources), strict=True)
    return [{"message_id": _copy(world, args, to, each, extra).id} for each, extra in pairs]


def forward_messages(world: Telegram, args: Args) -> list[Json]:
    sources, to = _many(world, args, "forward"), destination(world, args)
    pairs = zip(sources, _albums(world, sources), strict=True)
    return [{"message_id": _forward(world, to, each, extra).id} for each, extra in pairs]


METHODS: Mapping[str, Callable[[Telegram, Args], Any]] = {
    "sendMessage": send_message,
    "sendMessageDraft": send_message_draft,
    "sendChatAction": send_chat_action,
    "sendPhoto": _sender_of_file("photo"),
    "sendDocument": _sender_of_file("document"),
    "sendVoice": _sender_of_file("voice"),
    "sendAudio": _sender_of_file("audio"),
    "sendVideo": _sender_of_file("video"),
    "sendVideoNote": _sender_of_file("video_note"),
    "sendAnimation": _sender_of_file("animation"),
    "sendSticker": _sender_of_file("sticker"),
    "sendMediaGroup": send_media_group,
    "sendLocation": send_location,
    "sendContact": send_contact,
    "sendDice": send_dice,
    "sendPoll": send_poll,
    "copyMessage": copy_message,
    "copyMessages": copy_messages,
    "forwardMessage": forward_message,
    "forwardMessages": forward_messages,
}
