"""What the practice model takes a sentence for: fixed rules, tried from the top.

The order matters: "remember that I am done with school" is something to remember.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from bot.lab.practice.phrases import say
from bot.lab.practice.prompt import Prompt, bare_line, id_of, lines_of_result
from bot.lab.practice.when import DIGITS, NOW, read_now, take_time

LONGEST_QUOTE = 300
LOOKUP = "recall"
TOPIC = re.compile(
    r"\bmy (?P<en>[\w ]{2,30}?) (?:is|are)\b|^(?P<fa>[\w\u200c]{2,30}م) ", re.IGNORECASE
)
STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """a about am an and are at be called can did do does for from has have how i in is it know
        me my name of on please tell that the to was what when where which who whose you your
        آیا از است اسم این با به تو تویه چه چی چیست چیه در را رو من نام های هست و که کی کیست کیه""",
    )
)


@dataclass(frozen=True, slots=True)
class Intent:
    """What one part asks for: something to say, or a tool to use first."""

    say: Callable[[Prompt, str, str], str]  # (prompt, part, result of the tool or "")
    tool: str = ""
    about: str = ""  # what the tool is told
    due: str = ""
    topic: str = ""  # what a fact is about, where it has one value at a time


Meaning: TypeAlias = Callable[[Prompt, re.Match[str]], Intent]


def understand(prompt: Prompt, part: str) -> Intent:
    for pattern, meaning in RULES:
        found = pattern.search(part)
        if found is not None:
            return meaning(prompt, found)
    if part.rstrip().endswith(("?", "؟")):
        return _question(prompt, part)
    return Intent(lambda _, said, __: say(said, "wrote", quote(said)))


def quote(part: str) -> str:
    """The part itself, or both its ends and its length."""
    if len(part) <= LONGEST_QUOTE:
        return part
    return say(part, "long", part[:60], part[-60:], len(part)).strip("“”«»")


def _phrase(name: str) -> Callable[[Prompt, re.Match[str]], Intent]:
    return lambda _prompt, _found: Intent(lambda _, part, __: say(part, name))


def _verbatim(_prompt: Prompt, found: re.Match[str]) -> Intent:
    said = _told(found)
    return Intent(lambda *_: said)


def _remember(_prompt: Prompt, found: re.Match[str]) -> Intent:
    fact = _told(found)
    topic = TOPIC.search(fact)
    return _keeping(
        "remember", "remembered", fact, topic=(topic["en"] or topic["fa"]) if topic else ""
    )


def _done(prompt: Prompt, found: re.Match[str]) -> Intent:
    what = _told(found)
    line = best_fact(what, prompt.tasks)
    return _keeping("complete_task", "done", bare_line(line) or what, told=id_of(line))


def _task(prompt: Prompt, found: re.Match[str]) -> Intent:
    what, due = take_time(_told(found), read_now(prompt.told))
    what = re.sub(r"^(?:to|that|که)\s+", "", what).strip()
    return _keeping("add_task", "added_when" if due else "added", what, due=due)


def _keeping(
    tool: str, phrase: str, about: str, *, told: str = "", due: str = "", topic: str = ""
) -> Intent:
    """Something for a tool to keep: `about` is what is said of it, `told` what the tool is told."""

    def spoken(prompt: Prompt, part: str, result: str) -> str:
        if tool not in prompt.tools and not result:
            return say(part, "no_tool", about)
        if _went_wrong(result):
            return say(part, "failed", quote(result))
        return say(part, phrase, about, due)

    return Intent(spoken, tool, told or about, due, topic)


def _person(_prompt: Prompt, found: re.Match[str]) -> Intent:
    def spoken(prompt: Prompt, part: str, result: str) -> str:
        offered = "recommend_handoff" in prompt.tools or result
        return say(part, "person" if offered else "person_command")

    return Intent(spoken, "recommend_handoff", found.string.strip())


def _tasks(_prompt: Prompt, _found: re.Match[str]) -> Intent:
    def spoken(prompt: Prompt, part: str, _result: str) -> str:
        listed = "\n".join(f"- {bare_line(task)}" for task in prompt.tasks)
        return say(part, "tasks", listed) if listed else say(part, "no_tasks")

    return Intent(spoken)


def _everything(prompt: Prompt, found: re.Match[str]) -> Intent:
    def spoken(prompt: Prompt, part: str, result: str) -> str:
        known = list(dict.fromkeys([*prompt.memory, *lines_of_result(result)]))
        listed = "\n".join(f"- {fact}" for fact in known)
        return say(part, "known", listed) if known else say(part, "nothing")

    return Intent(spoken, "" if prompt.memory else LOOKUP, found.string.strip())


def _question(prompt: Prompt, part: str) -> Intent:
    """Answered from what is known: memory lines first, then what was said, then `recall`."""

    def spoken(prompt: Prompt, part: str, result: str) -> str:
        known = [*prompt.memory, *lines_of_result(result), *reversed(prompt.earlier)]
        fact = best_fact(part, known)
        return say(part, "fact", quote(fact)) if fact else say(part, "no_fact", quote(part))

    told = best_fact(part, [*prompt.memory, *prompt.earlier])
    return Intent(spoken, "" if told else LOOKUP, part.strip())


def best_fact(question: str, known: Sequence[str]) -> str:
    """The line that shares most of the question's words; of equals the first. Questions aside."""
    asked = _telling_words(question)
    facts = [fact for fact in known if not fact.rstrip().endswith(("?", "؟"))]
    scored = [(len(asked & _telling_words(fact)), fact) for fact in facts]
    score, fact = max(scored, key=lambda one: one[0], default=(0, ""))
    return fact if score else ""


def _telling_words(text: str) -> set[str]:
    found = re.findall(r"[\w\u200c]+", text.casefold().replace("’s", "").replace("'s", ""))
    return {re.sub(r"(?<=\w{3})(?:م|ام|\u200cام)$", "", word) for word in found} - STOP_WORDS


def _today(prompt: Prompt, _found: re.Match[str]) -> Intent:
    now = NOW.search(prompt.told)
    return Intent(lambda _, part, __: say(part, "today", now[0]) if now else say(part, "no_today"))


def _sum(_prompt: Prompt, found: re.Match[str]) -> Intent:
    left, sign, right = (piece.translate(DIGITS) for piece in found.groups())
    result = _calculated(int(left), sign, int(right))
    return Intent(lambda _, part, __: say(part, "sum", f"{left} {sign} {right}", result))


def _calculated(left: int, sign: str, right: int) -> str:
    match sign:
        case "+":
            return str(left + right)
        case "-" | "−":
            return str(left - right)
        case "*" | "×" | "x":
            return str(left * right)
        case _:
            return f"{left / right:g}" if right else "∞"


def _counted(_prompt: Prompt, found: re.Match[str]) -> Intent:
    last = min(int(_told(found).translate(DIGITS)), 5000)
    return Intent(lambda *_: " ".join(str(number) for number in range(1, last + 1)))


def _told(found: re.Match[str]) -> str:
    groups = (group for group in found.groups() if group)
    return next(groups, "").strip(" .!،:\n") or found.string.strip()


def _went_wrong(result: str) -> bool:
    return bool(re.match(r"\s*(?:error\b|\{\s*\"error\")", result, re.IGNORECASE))


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns), re.IGNORECASE | re.DOTALL)


RULES: tuple[tuple[re.Pattern[str], Meaning], ...] = (
    (_any(r"^\s*(?:say|echo)\b[: ]+(.+)", r"^\s*بگو[: ]+(.+)"), _verbatim),
    (_any(r"\bcount to (\d{1,5})\b", r"تا ([0-9۰-۹]{1,5}) بشمار"), _counted),
    (
        _any(
            r"\bremember\s+(?:that\s+|this[: ]+|:\s*)(.+)",
            r"^\s*(?:please )?remember[: ]+(?:that |this[: ]+)?(?!what\b|me\b)(.+)",
            r"(?:به خاطر بسپار|به یاد داشته باش|یادت (?:باش[ده]|بماند|بمونه))"
            r"\s*[:،]?\s*(?:که\s+)?(.+)",
        ),
        _remember,
    ),
    (
        _any(
            r"\bremind me\s+(.+)",
            r"\badd (?:a |the )?task\b\s*[: ]\s*(.+)",
            r"^\s*(?:todo|to-do)\b[: ]+(.+)",
            r"^\s*add (.+) to (?:my|the) (?:tasks|list|to-?do)",
            r"(?:یادآوری کن|یادم بنداز|یادم بینداز|یادم بیار)\s*[:،]?\s*(?:که\s+)?(.+)",
            r"کار اضافه کن\s*[:،]?\s*(.+)",
            r"^\s*(.+?)\s+را به (?:کارها|فهرست)\S* اضافه کن",
        ),
        _task,
    ),
    (
        _any(
            r"\b(?:i am |i'm )?done with\s+(.+)",
            r"\bi(?:'ve| have)? (?:finished|completed)\s+(.+)",
            r"\bmark\s+(.+?)\s+(?:as )?(?:done|complete)",
            r"^\s*(.+?)\s+is done\b",
            r"^\s*(.+?)\s+(?:را |رو )?(?:انجام دادم|تمام کردم|انجام شد|تمام شد|تموم شد)",
        ),
        _done,
    ),
    (
        _any(
            r"\b(?:talk|speak|chat|connect me)\b.{0,20}"
            r"\b(?:person|human|operator|someone|somebody|agent)\b",
            r"\b(?:i (?:want|need)|get me) (?:a |an )?(?:real )?(?:person|human|operator)",
            r"(?:با|به) (?:یک |یه )?(?:آدم|انسان|اپراتور|پشتیبان|نفر|کارشناس)\S*.{0,20}"
            r"(?:صحبت|حرف|وصل)",
            r"اپراتور (?:می‌?خواهم|میخوام|لازم)",
        ),
        _person,
    ),
    (
        _any(
            r"\bwhat (?:do|can) you (?:know|remember) about me",
            r"\bwhat do you remember\b",
            r"\bwho am i\b",
            r"(?:درباره|در مورد|راجع به)\S*\s*(?:ی\s*)?من چ[هی]? ?(?:چیز\S*\s*)?"
            r"(?:می‌?دان|میدون|به یاد|یادت)",
            r"من کی ?(?:ام|هستم)",
        ),
        _everything,
    ),
    (
        _any(
            r"\b(?:what|which|show|list)\b.{0,20}\b(?:my|open) (?:tasks|to-?dos?)\b",
            r"\bwhat (?:do i have|is there) to do\b",
            r"کارهای (?:من|باز)",
            r"کارهایم چ",
        ),
        _tasks,
    ),
    (
        _any(
            r"\bwhat(?:'s| is)? (?:the )?(?:time|date|day)\b",
            r"\bwhat day is it",
            r"امروز چ",
            r"ساعت چند",
        ),
        _today,
    ),
    (_any(r"(?<![\d.])([0-9۰-۹]{1,12})\s*([+\-−*×x/÷])\s*([0-9۰-۹]{1,12})(?![\d.])"), _sum),
    (
        _any(
            r"\bwho are you",
            r"\bwhat are you",
            r"\bare you (?:a |an )?(?:bot|real|human|ai)",
            r"\bwhat can you do",
            r"(?:تو|شما) کی",
            r"کی هستی",
            r"چه کار\S* (?:می|بلد)",
        ),
        _phrase("who"),
    ),
    (_any(r"\bhow are you", r"حالت? چطور", r"چطوری", r"خوبی\s*[؟?]?$"), _phrase("fine")),
    (
        _any(
            r"^\s*(?:hi|hello|hey|good (?:morning|evening|afternoon)|salam)\b"
            r"[\s!.,]*\S{0,12}[\s!.]*$",
            r"^\s*(?:سلام|درود|صبح بخیر|عصر بخیر|وقت بخیر)[\s!.،]*\S{0,12}[\s!.]*$",
        ),
        _phrase("hello"),
    ),
    (
        _any(r"^\s*(?:thanks|thank you|thx)\b", r"^\s*(?:ممنون|مرسی|متشکر|سپاس)"),
        _phrase("welcome"),
    ),
    (_any(r"^\s*(?:bye|goodbye|see you)\b", r"^\s*(?:خداحافظ|خدانگهدار)"), _phrase("bye")),
)
