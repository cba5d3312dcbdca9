"""Finds a time in a short request, the few wordings the practice model understands."""

import re
from datetime import datetime, timedelta

DIGITS = str.maketrans("۰۱۲۳۴۵۶۷۸۹٠١٢٣٤٥٦٧٨٩", "01234567890123456789")
NOW = re.compile(r"(\d{4}-\d{2}-\d{2})(?:\D{0,24}?(\d{1,2}:\d{2}))?")
AFTER = re.compile(
    r"\bin (\d{1,4}) (minute|hour|day|week)s?\b"
    r"|(\d{1,4}) (دقیقه|ساعت|روز|هفته)\S{0,2} (?:دیگر|دیگه|بعد)",
    re.IGNORECASE,
)
DAY = re.compile(r"\b(?:(?:by|on|for) )?(today|tonight|tomorrow)\b|(امروز|امشب|فردا|پس‌فردا)", re.I)
CLOCK = re.compile(r"\bat (\d{1,2})(?::(\d{2}))?\s?(am|pm)?\b|ساعت (\d{1,2})(?::(\d{2}))?", re.I)

UNITS = {
    "minute": timedelta(minutes=1), "hour": timedelta(hours=1), "day": timedelta(days=1),
    "week": timedelta(weeks=1), "دقیقه": timedelta(minutes=1), "ساعت": timedelta(hours=1),
    "روز": timedelta(days=1), "هفته": timedelta(weeks=1),
}  # fmt: skip
DAYS = {"tomorrow": 1, "فردا": 1, "پس‌فردا": 2}
USUAL_HOUR = 9


def read_now(system: str) -> datetime | None:
    """The local time that the prompt tells: the first date in it, with the time beside it."""
    found = NOW.search(system)
    if found is None:
        return None
    try:
        return datetime.fromisoformat(f"{found[1]} {(found[2] or '00:00').zfill(5)}")
    except ValueError:
        return None


def take_time(text: str, now: datetime | None) -> tuple[str, str]:
    """Return the text without its time, and the time: ISO 8601 local, or words without `now`."""
    plain = text.translate(DIGITS)
    after = AFTER.search(plain)
    if after is not None:
        rest = _without(plain, after)
        amount, unit = (after[1], after[2].lower()) if after[1] else (after[3], after[4])
        return rest, _iso(now + int(amount) * UNITS[unit]) if now else after[0].strip()
    day, clock = DAY.search(plain), CLOCK.search(plain)
    found = [match for match in (day, clock) if match]
    if not found:
        return text, ""
    rest = plain
    for match in sorted(found, key=lambda one: one.start(), reverse=True):
        rest = rest[: match.start()] + rest[match.end() :]
    words = " ".join(match[0].strip() for match in found)
    return _tidy(rest), _on_day(now, day, clock) if now else words


def _on_day(now: datetime, day: re.Match[str] | None, clock: re.Match[str] | None) -> str:
    hour, minute = _clock(clock) if clock else (USUAL_HOUR, 0)
    named = (day[1] or day[2]).lower() if day else ""
    due = now.replace(minute=minute, hour=hour) + timedelta(days=DAYS.get(named, 0))
    return _iso(due + timedelta(days=1) if not day and due <= now else due)


def _clock(found: re.Match[str]) -> tuple[int, int]:
    hour, minute = int(found[1] or found[4]), int(found[2] or found[5] or 0)
    half = (found[3] or "").lower()
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    return min(hour, 23), min(minute, 59)


def _iso(moment: datetime) -> str:
    return moment.isoformat(timespec="minutes")


def _without(text: str, found: re.Match[str]) -> str:
    return _tidy(text[: found.start()] + text[found.end() :])


def _tidy(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip(" ,.،")
