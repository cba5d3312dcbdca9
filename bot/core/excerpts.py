"""How long a text is for a model, and how to shorten one without hiding that it was shortened."""


def estimate_tokens(text: str) -> int:
    """Guess high how many tokens a text is, without a tokenizer.

    Three ASCII characters a token (English has four or more), two UTF-8 bytes a token otherwise:
    one token for a Persian or Cyrillic letter, one and a half for a Chinese one, two for an emoji.
    """
    in_bytes = len(text.encode("utf-8", "surrogatepass"))
    ascii_bytes = len(text.encode("ascii", "ignore"))
    return (2 * ascii_bytes + 3 * (in_bytes - ascii_bytes) + 5) // 6


def cut_in_the_middle(text: str, max_tokens: int) -> str:
    """The text, or what fits of its beginning and end, with a mark that says what is missing."""
    if estimate_tokens(text) <= max_tokens:
        return text
    fewest, most = 0, len(text) - 1
    while fewest < most:
        kept = (fewest + most + 1) // 2
        if estimate_tokens(_keep(text, kept)) <= max_tokens:
            fewest = kept
        else:
            most = kept - 1
    return _keep(text, fewest)


def _keep(text: str, kept: int) -> str:
    """Two thirds from the beginning, one third from the end: a question often ends a paste."""
    tail = kept // 3
    mark = f"\n[… {len(text) - kept} characters left out …]\n"
    return text[: kept - tail] + mark + text[len(text) - tail :]


def whole(text: str) -> str:
    """The text without halves of characters (lone surrogates), which no API takes."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
