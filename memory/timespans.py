"""The stretch of time that a question names: "last week", "in May 2023", «هفتهٔ پیش», «دیروز».

Days begin at midnight in the zone of `now`; weeks on Monday in English, on Saturday in Persian.
Vague on purpose: a stretch makes lines from it likelier, it never hides another line.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory.normalise import canonical

MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july"),
    *("august", "september", "october", "november", "december"),
)
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
PERSIAN_WEEKDAYS = ("دوشنبه", "سهشنبه", "چهارشنبه", "پنجشنبه", "جمعه", "شنبه", "یکشنبه")
NUMBERS = {
    "a": 1,
    "an": 1,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "یک": 1,
    "دو": 2,
    "سه": 3,
    "چهار": 4,
    "پنج": 5,
    "شش": 6,
    "چند": 3,
    "few": 3,
    "couple": 2,
}
DAYS = {"day": 1, "week": 7, "month": 30, "year": 365, "روز": 1, "هفته": 7, "ماه": 30, "سال": 365}
_BEFORE = "پیش|قبل|گذشته"
_NUMBER = r"(\d{1,4}|" + "|".join(NUMBERS) + ")"
_AGO_ENGLISH = re.compile(rf"\b{_NUMBER}(?: of)? (day|week|month|year)s? ago\b")
_AGO_PERSIAN = re.compile(rf"\b{_NUMBER} (روز|هفته|ماه|سال) (?:{_BEFORE})\b")
_WEEKDAY = re.compile(rf"\b(?:last|on|this) ({'|'.join(WEEKDAYS)})\b")
# A name of another day ends in شنبه too, so that one comes last.
_PERSIAN_WEEKDAY = re.compile(
    rf"\b(دوشنبه|سه ?شنبه|چهار ?شنبه|پنج ?شنبه|یک ?شنبه|جمعه|شنبه) (?:{_BEFORE})\b"
)
_MONTH = re.compile(
    rf"\b(?:(?:in|of|during|last|since|on)(?: \d{{1,2}})? )?({'|'.join(MONTHS)})(?: (\d{{1,2}}))?"
    r"(?: (\d{4}))?\b"
)
_YEAR = re.compile(r"\b(?:in|during|of) ((?:19|20)\d\d)\b")
_DATE = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_DAY_BEFORE_MONTH = re.compile(rf"\b(\d{{1,2}}) ({'|'.join(MONTHS)})(?: (\d{{4}}))?\b")


@dataclass(frozen=True, slots=True)
class Span:
    """From `since_us` to before `until_us`, microseconds since 1970 in UTC."""

    since_us: int
    until_us: int

    def holds(self, at_us: int) -> bool:
        return self.since_us <= at_us < self.until_us


def span_of(question: str, now: datetime) -> Span | None:
    """The first stretch that is named; None if there is none. `now` is aware, in the user's zone.

    Never raises: a date that is none (31 February) names nothing.
    """
    said = canonical(question)
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    try:
        if date := _DATE.search(question):
            return _days(today.replace(*map(int, date.groups())), 1)  # type: ignore[arg-type]
        for find in (_named, _ago, _weekday, _month):
            if span := find(said, today):
                return span
    except (ValueError, OverflowError):
        return None
    return None


def _days(first: datetime, count: int) -> Span:
    return Span(_us(first), _us(first + timedelta(days=count)))


def _us(moment: datetime) -> int:
    return max(0, round(moment.timestamp() * 1_000_000))


def _named(said: str, today: datetime) -> Span | None:
    for pattern, span in _NAMED:
        if pattern.search(said):
            return span(today)
    return None


def _ago(said: str, today: datetime) -> Span | None:
    found = _AGO_ENGLISH.search(said) or _AGO_PERSIAN.search(said)
    if not found:
        return None
    count, unit = found.groups()
    length = DAYS[unit]
    number = int(count) if count.isdecimal() else NUMBERS[count]
    middle = today - timedelta(days=number * length)
    around = length // 2
    return _days(middle - timedelta(days=around), 2 * around + 1)


def _weekday(said: str, today: datetime) -> Span | None:
    if found := _WEEKDAY.search(said):
        return _last_weekday(today, WEEKDAYS.index(found[1]))
    if found := _PERSIAN_WEEKDAY.search(said):
        return _last_weekday(today, PERSIAN_WEEKDAYS.index(found[1].replace(" ", "")))
    return None


def _last_weekday(today: datetime, weekday: int) -> Span:
    back = (today.weekday() - weekday) % 7 or 7
    return _days(today - timedelta(days=back), 1)


def _month(said: str, today: datetime) -> Span | None:
    if found := _DAY_BEFORE_MONTH.search(said):
        day, name, year = found.groups()
        return _days(_in_past(today, MONTHS.index(name) + 1, int(day), year), 1)
    for found in _MONTH.finditer(said):
        name, day, year = found.groups()
        if found[0] == "may" or (name in ("march", "may") and found[0] == name):
            continue  # "may I …": a month only with a word or a number beside it
        month = MONTHS.index(name) + 1
        if day:
            return _days(_in_past(today, month, int(day), year), 1)
        first = _in_past(today, month, 1, year)
        return Span(_us(first), _us((first + timedelta(days=32)).replace(day=1)))
    if found := _YEAR.search(said):
        first = today.replace(year=int(found[1]), month=1, day=1)
        return Span(_us(first), _us(first.replace(year=first.year + 1)))
    return None


def _in_past(today: datetime, month: int, day: int, year: str | None) -> datetime:
    """The last such day, where no year is named."""
    named = today.replace(year=int(year) if year else today.year, month=month, day=day)
    return named.replace(year=named.year - 1) if not year and named > today else named


def _week(back: int, first_weekday: int) -> Callable[[datetime], Span]:
    def span(today: datetime) -> Span:
        begin = today - timedelta(days=(today.weekday() - first_weekday) % 7 + 7 * back)
        return _days(begin, 7)

    return span


def _months_ago(back: int) -> Callable[[datetime], Span]:
    def span(today: datetime) -> Span:
        number = today.year * 12 + today.month - 1 - back
        first = today.replace(year=number // 12, month=number % 12 + 1, day=1)
        return Span(_us(first), _us((first + timedelta(days=32)).replace(day=1)))

    return span


def _years_ago(back: int) -> Callable[[datetime], Span]:
    def span(today: datetime) -> Span:
        first = today.replace(year=today.year - back, month=1, day=1)
        return Span(_us(first), _us(first.replace(year=first.year + 1)))

    return span


def _day(back: int) -> Callable[[datetime], Span]:
    return lambda today: _days(today - timedelta(days=back), 1)


_NAMED: tuple[tuple[re.Pattern[str], Callable[[datetime], Span]], ...] = tuple(
    (re.compile(rf"\b(?:{pattern})\b"), span)
    for pattern, span in (
        ("day before yesterday|پریروز|پری روز", _day(2)),
        ("yesterday|last night|دیروز|دیشب", _day(1)),
        ("today|this morning|tonight|امروز|امشب", _day(0)),
        ("last week|past week", _week(1, 0)),
        ("this week", _week(0, 0)),
        (f"هفته ی? ?(?:{_BEFORE})", _week(1, 5)),
        ("این هفته", _week(0, 5)),
        ("last month", _months_ago(1)),
        ("this month|این ماه", _months_ago(0)),
        (f"(?<!\\w )ماه (?:{_BEFORE})", _months_ago(1)),
        ("last year|پارسال", _years_ago(1)),
        ("this year|امسال", _years_ago(0)),
        (f"^سال (?:{_BEFORE})", _years_ago(1)),
    )
)
