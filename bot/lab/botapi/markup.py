"""parse_mode: HTML, MarkdownV2 and Markdown into a plain text and entities. Pure.

The documented grammars, without `tg://time` dates. A broken text is refused as Telegram refuses
it: "can't parse entities: …". Byte offsets in the words are UTF-8, as Telegram counts them.
"""

import re
from typing import Final, NoReturn

from bot.lab.botapi.refusals import bad_request
from bot.lab.botapi.text import Run, units


def parse(text: str, mode: str) -> tuple[str, list[Run]]:
    """Raises Refusal("can't parse entities: …") for broken text or an unknown mode."""
    match mode.lower():
        case "html":
            return _Html(text).parse()
        case "markdownv2":
            return _MarkdownV2(text).parse()
        case "markdown":
            return _Markdown(text).parse()
        case "":
            return text, []
        case _:
            raise bad_request("unsupported parse_mode")


class _Scanner:
    """A position in the source, the plain text so far, and the entities that are open."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.at = 0
        self.out: list[str] = []
        self.length = 0  # of `out`, in UTF-16 units
        self.runs: list[Run] = []

    def emit(self, text: str) -> None:
        self.out.append(text)
        self.length += units(text)

    def here(self, *prefixes: str) -> str:
        return next((p for p in prefixes if self.source.startswith(p, self.at)), "")

    def byte(self, position: int) -> int:
        return len(self.source[:position].encode())

    def add(self, kind: str, start: int, **details: str) -> None:
        if self.length > start:
            given = tuple(sorted((key, value) for key, value in details.items() if value))
            self.runs.append(Run(kind, start, self.length - start, given))

    def fail(self, reason: str) -> NoReturn:
        raise bad_request(f"can't parse entities: {reason}")

    def result(self) -> tuple[str, list[Run]]:
        return "".join(self.out), self.runs


_TAG = re.compile(r"<(/?)([a-zA-Z][\w-]*)((?:[^<>\"']|\"[^\"]*\"|'[^']*')*)>")
_ATTRIBUTE = re.compile(r"([a-zA-Z-]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([\w.-]+)))?")
_REFERENCE = re.compile(r"&(?:(lt|gt|amp|quot);|#(?:(\d{1,7})|x([0-9a-fA-F]{1,6}));)")
_NAMED: Final = {"lt": "<", "gt": ">", "amp": "&", "quot": '"'}
_HTML: Final = {
    "b": "bold",
    "strong": "bold",
    "i": "italic",
    "em": "italic",
    "u": "underline",
    "ins": "underline",
    "s": "strikethrough",
    "strike": "strikethrough",
    "del": "strikethrough",
    "tg-spoiler": "spoiler",
    "span": "spoiler",
    "a": "text_link",
    "tg-emoji": "custom_emoji",
    "code": "code",
    "pre": "pre",
    "blockquote": "blockquote",
}


class _Html(_Scanner):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.open: list[tuple[str, int, dict[str, str], int]] = []

    def parse(self) -> tuple[str, list[Run]]:
        while self.at < len(self.source):
            match self.source[self.at]:
                case "<":
                    self._tag()
                case "&":
                    self._reference()
                case _:
                    ends = [self.source.find(mark, self.at) for mark in "<&"]
                    stop = min((end for end in ends if end >= 0), default=len(self.source))
                    self.emit(self.source[self.at : stop])
                    self.at = stop
        if self.open:
            tag = self.open[-1][0]
            self.fail(f'Can\'t find end tag corresponding to start tag "{tag}"')
        return self.result()

    def _reference(self) -> None:
        found = _REFERENCE.match(self.source, self.at)
        if found is None:
            self.emit("&")
            self.at += 1
            return
        named, decimal, hexadecimal = found.groups()
        code = int(decimal) if decimal else int(hexadecimal, 16) if hexadecimal else 0
        if not named and not 0 < code < 0x110000:
            self.emit("&")
            self.at += 1
            return
        self.emit(_NAMED[named] if named else chr(code))
        self.at = found.end()

    def _tag(self) -> None:
        start = self.at
        found = _TAG.match(self.source, start)
        if found is None:
            if ">" not in self.source[start:]:
                self.fail(f"Unclosed start tag at byte offset {self.byte(start)}")
            name = re.split(r"[\s>]", self.source[start + 1 :], maxsplit=1)[0]
            self.fail(f'Unsupported start tag "{name}" at byte offset {self.byte(start)}')
        closing, name, rest = found.group(1), found.group(2).lower(), found.group(3)
        self.at = found.end()
        if closing:
            self._close(name, start)
        else:
            self._open(name, rest, start)

    def _open(self, name: str, rest: str, start: int) -> None:
        attributes = {
            key.lower(): _unescape(a or b or c) for key, a, b, c in _ATTRIBUTE.findall(rest)
        }
        spoiler = name != "span" or attributes.get("class") == "tg-spoiler"
        if name not in _HTML:
            self.fail(f'Unsupported start tag "{name}" at byte offset {self.byte(start)}')
        if not spoiler:
            self.fail(f'Tag "span" must have class "tg-spoiler" at byte offset {self.byte(start)}')
        self.open.append((name, self.length, attributes, start))

    def _close(self, name: str, start: int) -> None:
        if not self.open:
            self.fail(f"Unexpected end tag at byte offset {self.byte(start)}")
        opened, offset, attributes, _ = self.open.pop()
        if opened != name:
            self.fail(
                f"Unmatched end tag at byte offset {self.byte(start)}, "
                f'expected "</{opened}>", found "</{name}>"'
            )
        self._finish(name, offset, attributes)

    def _finish(self, name: str, offset: int, attributes: dict[str, str]) -> None:
        match name:
            case "a":
                url = attributes.get("href") or "".join(self.out)  # <a>url</a> links to itself
                if "." in url or ":" in url:
                    self.add("text_link", offset, url=url)
            case "tg-emoji":
                self.add("custom_emoji", offset, custom_emoji_id=attributes.get("emoji-id", ""))
            case "blockquote" if "expandable" in attributes:
                self.add("expandable_blockquote", offset)
            case "code" if self.open and self.open[-1][0] == "pre":
                language = attributes.get("class", "").removeprefix("language-")
                self.open[-1][2]["language"] = language
            case "pre":
                self.add("pre", offset, language=attributes.get("language", ""))
            case _:
                self.add(_HTML[name], offset)


def _unescape(value: str) -> str:
    def one(found: re.Match[str]) -> str:
        named, decimal, hexadecimal = found.groups()
        return _NAMED[named] if named else chr(int(decimal) if decimal else int(hexadecimal, 16))

    return _REFERENCE.sub(one, value)


_RESERVED: Final = frozenset("_*[]()~`>#+-=|{}.!")
_V2_MARKS: Final = ("__", "||", "_", "*", "~")
_V2_KINDS: Final = {
    "__": "underline",
    "||": "spoiler",
    "_": "italic",
    "*": "bold",
    "~": "strikethrough",
}
_V2_NAMES: Final = {
    "__": "Underline",
    "||": "Spoiler",
    "_": "Italic",
    "*": "Bold",
    "~": "Strikethrough",
    "[": "TextUrl",
    "![": "CustomEmoji",
}


class _MarkdownV2(_Scanner):
    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.open: list[tuple[str, int, int]] = []  # mark, offset in the text, place in the source
        self.quote: int | None = None

    def parse(self) -> tuple[str, list[Run]]:
        while self.at < len(self.source):
            self._step()
        if self.open:
            mark, _, place = self.open[-1]
            self.fail(
                f"Can't find end of {_V2_NAMES[mark]} entity at byte offset {self.byte(place)}"
            )
        self._end_quote()
        return self.result()

    def _step(self) -> None:
        line_starts = self.at == 0 or self.source[self.at - 1] == "\n"
        if line_starts and self._line_start():
            return
        character = self.source[self.at]
        if character == "\\" and self.at + 1 < len(self.source):
            following = self.source[self.at + 1]
            literal = ord(following) < 127 and ord(following) > 0
            self.emit(following if literal else character)
            self.at += 2 if literal else 1
        elif character == "`":
            self._code()
        elif mark := self.here("![", "["):
            self.open.append((mark, self.length, self.at))
            self.at += len(mark)
        elif character == "]" and self.open and self.open[-1][0] in ("[", "!["):
            self._link()
        elif mark := self.here(*_V2_MARKS):
            self._style(mark)
        elif character in _RESERVED:
            self.fail(
                f"Character '{character}' is reserved and must be escaped with the preceding '\\'"
            )
        else:
            self.emit(character)
            self.at += 1

    def _line_start(self) -> bool:
        """Handle what only counts at the start of a line; True if something was consumed."""
        mark = self.here("**>", ">")
        if mark and (mark == "**>" or self.quote is None):
            self._end_quote()
            self.quote = self.length
        if not mark:
            self._end_quote()
            return False
        self.at += len(mark)
        return True

    def _end_quote(self, kind: str = "blockquote") -> None:
        if self.quote is not None:
            self.add(kind, self.quote)
            self.quote = None

    def _style(self, mark: str) -> None:
        place = self.at
        self.at += len(mark)
        if self.open and self.open[-1][0] == mark:
            _, offset, _ = self.open.pop()
            self.add(_V2_KINDS[mark], offset)
            return
        line_ends = self.at == len(self.source) or self.source[self.at] == "\n"
        if mark == "||" and self.quote is not None and line_ends:
            self._end_quote("expandable_blockquote")
            return
        if self.open and any(mark == opened for opened, _, _ in self.open):
            opened, _, began = self.open[-1]
            self.fail(
                f"Can't find end of {_V2_NAMES[opened]} entity at byte offset {self.byte(began)}"
            )
        self.open.append((mark, self.length, place))

    def _code(self) -> None:
        fence = "```" if self.here("```") else "`"
        name = "Pre" if fence == "```" else "Code"
        start, offset = self.at, self.length
        self.at += len(fence)
        language = ""
        if fence == "```" and (found := re.match(r"([^\s`\\]*)\n", self.source[self.at :])):
            language = found.group(1)
            self.at += found.end()
        while not self.here(fence):
            if self.at >= len(self.source):
                name = "PreCode" if language else name
                self.fail(f"Can't find end of {name} entity at byte offset {self.byte(start)}")
            if self.here("\\") and self.at + 1 < len(self.source):
                self.at += 1
            self.emit(self.source[self.at])
            self.at += 1
        self.at += len(fence)
        self.add("pre" if fence == "```" else "code", offset, language=language)

    def _link(self) -> None:
        mark, offset, place = self.open.pop()
        self.at += 1
        url = ""
        if self.here("("):
            self.at += 1
            while not self.here(")"):
                if self.at >= len(self.source):
                    self.fail(f"Can't find end of a URL at byte offset {self.byte(place)}")
                if self.here("\\") and self.at + 1 < len(self.source):
                    self.at += 1
                url += self.source[self.at]
                self.at += 1
            self.at += 1
        if mark == "![":
            self.add("custom_emoji", offset, custom_emoji_id=url.rpartition("id=")[2])
        elif url:
            self.add("text_link", offset, url=url)


class _Markdown(_Scanner):
    """The legacy mode: `*bold*`, `_italic_`, code, fences, links; nothing nests."""

    def parse(self) -> tuple[str, list[Run]]:
        while self.at < len(self.source):
            character = self.source[self.at]
            if character == "\\" and self.source[self.at + 1 : self.at + 2] in tuple("_*`["):
                self.emit(self.source[self.at + 1])
                self.at += 2
            elif mark := self.here("```", "`", "*", "_"):
                self._span(mark)
            elif character == "[" and (
                found := re.compile(r"\[([^\]]*)\]\(([^)]*)\)").match(self.source, self.at)
            ):
                offset = self.length
                self.emit(found.group(1))
                self.add("text_link", offset, url=found.group(2))
                self.at = found.end()
            elif character == "[" and "]" not in self.source[self.at :]:
                self._unfinished(self.at)
            else:
                self.emit(character)
                self.at += 1
        return self.result()

    def _span(self, mark: str) -> None:
        end = self.source.find(mark, self.at + len(mark))
        if end < 0:
            self._unfinished(self.at)
        inner = self.source[self.at + len(mark) : end]
        language = ""
        if mark == "```" and (found := re.match(r"([^\s`]*)\n", inner)):
            language, inner = found.group(1), inner[found.end() :]
        offset = self.length
        self.emit(inner)
        kind = {"```": "pre", "`": "code", "*": "bold", "_": "italic"}[mark]
        self.add(kind, offset, language=language)
        self.at = end + len(mark)

    def _unfinished(self, place: int) -> NoReturn:
        self.fail(f"Can't find end of the entity starting at byte offset {self.byte(place)}")
