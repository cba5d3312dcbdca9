"""When something happens, as it was said: a moment or a whole day, with its zone.

2026-12-04T09:00:00+03:30[Asia/Tehran]    a moment; the zone in brackets may be left out
2026-12-04[Asia/Tehran]                   a day; the zone is needed to know when it begins
"""

import re
from datetime import UTC, datetime, time
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

_SHAPE = re.compile(
    r"(?P<day>\d{4}-\d\d-\d\d)"
    r"(?P<moment>T\d\d:\d\d(?::\d\d(?:\.\d{1,6})?)?(?:Z|[+-]\d\d:\d\d))?"
    r"(?:\[(?P<zone>[A-Za-z0-9_+\-/]+)\])?",
    re.ASCII,
)


def instant_of(event_time: str) -> datetime:
    """The moment in UTC; for a day, its beginning in its zone. Raises ValueError.

    A zone that this machine does not know counts as UTC, so that an old line stays readable.
    """
    shape = _shape(event_time)
    try:
        if shape["moment"]:
            return datetime.fromisoformat(shape["day"] + shape["moment"]).astimezone(UTC)
        day = datetime.fromisoformat(shape["day"]).date()
        return datetime.combine(day, time(), _zone(shape["zone"])).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"{event_time!r} is outside the calendar") from error


def deadline_name(event_time: str) -> str:
    """The same for two ways of writing one deadline: the UTC moment, or the day."""
    shape = _shape(event_time)
    if not shape["moment"]:
        return str(shape["day"]).replace("-", "")
    return instant_of(event_time).strftime("%Y%m%dT%H%M%SZ")


def _shape(event_time: str) -> re.Match[str]:
    shape = _SHAPE.fullmatch(event_time)
    if shape is None or not (shape["moment"] or shape["zone"]):
        raise ValueError(f"{event_time!r} is not an ISO time with offset or a day with [Zone/Name]")
    return shape


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        return ZoneInfo("UTC")
