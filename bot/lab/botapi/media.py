"""Bot API objects for everything that is not text, small but complete."""

from typing import Any, Final

from bot.lab.botapi.records import Json
from bot.lab.botapi.world import StoredFile, World

FOLDERS: Final = {
    "photo": "photos",
    "document": "documents",
    "voice": "voice",
    "audio": "music",
    "video": "videos",
    "video_note": "video_notes",
    "animation": "animations",
    "sticker": "stickers",
}
SUFFIXES: Final = {
    "photo": ".jpg",
    "document": ".txt",
    "voice": ".oga",
    "audio": ".mp3",
    "video": ".mp4",
    "video_note": ".mp4",
    "animation": ".mp4",
    "sticker": ".webp",
}
CAPTIONED: Final = frozenset({"photo", "document", "voice", "audio", "video", "animation"})
WITHOUT_FILE: Final = ("location", "venue", "contact", "dice", "poll", "story")
KINDS: Final = (*FOLDERS, *WITHOUT_FILE)


def content(world: World, kind: str, stored: StoredFile | None = None, **given: Any) -> Json:
    """The content fields of a message of this kind; the first key is the kind itself.

    `given` overrides fields of the object. Raises ValueError for an unknown kind.
    """
    if kind in FOLDERS:
        if stored is None:
            stored = world.store_file(b"lab", FOLDERS[kind], SUFFIXES[kind])
        return _with_file(kind, stored, given)
    plain: dict[str, Json] = {
        "location": {"latitude": 35.6892, "longitude": 51.389},
        "venue": {
            "location": {"latitude": 35.6892, "longitude": 51.389},
            "title": "Bazaar",
            "address": "Tehran",
        },
        "contact": {"phone_number": "+989120000000", "first_name": "Sara"},
        "dice": {"emoji": "🎲", "value": 4},
        "story": {"chat": {"id": 1, "type": "private", "first_name": "Sara"}, "id": 1},
    }
    if kind == "poll":
        return {"poll": _poll(next(world.numbers), given)}
    if kind not in plain:
        raise ValueError(f"unknown kind of message: {kind}")
    return {kind: {**plain[kind], **given}}


def _with_file(kind: str, stored: StoredFile, given: Json) -> Json:
    size = {"file_size": max(1, len(stored.data))}
    file = {"file_id": stored.file_id, "file_unique_id": stored.unique_id}
    fields: dict[str, Json] = {
        "document": {"file_name": stored.path.rpartition("/")[2], "mime_type": "text/plain"},
        "voice": {"duration": 2, "mime_type": "audio/ogg"},
        "audio": {"duration": 60, "mime_type": "audio/mpeg"},
        "video": {"width": 320, "height": 240, "duration": 2, "mime_type": "video/mp4"},
        "video_note": {"length": 240, "duration": 2},
        "animation": {"width": 320, "height": 240, "duration": 2, "mime_type": "video/mp4"},
        "sticker": {
            "type": "regular",
            "width": 512,
            "height": 512,
            "is_animated": False,
            "is_video": False,
            "emoji": "👍",
        },
    }
    if kind == "photo":
        small = {"file_id": f"{stored.file_id}-s", "file_unique_id": f"{stored.unique_id}s"}
        return {
            "photo": [
                {**small, "width": 90, "height": 67, "file_size": 1},
                {**file, "width": 800, "height": 600, **size},
            ]
        }
    whole = {kind: {**file, **fields[kind], **size, **given}}
    if kind == "animation":
        whole["document"] = {**file, "mime_type": "video/mp4", **size}
    return whole


def _poll(number: int, given: Json) -> Json:
    return {
        "id": str(9_000_000 + number),
        "question": "Tea or coffee?",
        "options": [
            {"persistent_id": "1", "text": "Tea", "voter_count": 0},
            {"persistent_id": "2", "text": "Coffee", "voter_count": 0},
        ],
        "total_voter_count": 0,
        "is_closed": False,
        "is_anonymous": True,
        "type": "regular",
        "allows_multiple_answers": False,
        "allows_revoting": False,
        "members_only": False,
        **given,
    }
