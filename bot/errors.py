"""The error tree. Each class is named by what the caller does next.

DabirError
├── Misconfigured        stop at start-up with exit code 2; names the setting
├── RetryLater           nothing happened out there; try again after `delay_seconds`
├── Refused              the other side said no for good; repeating it cannot help
│   ├── Blocked          the user blocked the bot, or the account is gone
│   ├── TopicGone        the topic was deleted; open another and send again
│   ├── TopicClosed      the topic was closed; reopen it and send again
│   └── Migrated         the group became a supergroup; go on under `new_chat_id`
├── Unknown              the request was written, no answer came: it may have happened
├── StoreUnavailable     the database cannot be read or written; names what to do
├── StatementRefused     the database refused a statement: a fault in this program
└── ModelFailed          no usable answer from the model; `failure` says why

Expected outcomes (a lost lease, a stale draft) are return values, never exceptions.
"""

from enum import StrEnum


class DabirError(Exception):
    """Whatever this program raises on purpose. Its text is one sentence without secrets."""


class Misconfigured(DabirError):
    """A setting is missing or wrong. `str(error)` is the sentence a user sees."""

    def __init__(self, sentence: str, *, setting: str = "") -> None:
        super().__init__(sentence)
        self.setting = setting


class RetryLater(DabirError):
    """Nothing was done; the same call may be made again after `delay_seconds`."""

    def __init__(self, sentence: str, *, delay_seconds: float = 1.0) -> None:
        super().__init__(sentence)
        self.delay_seconds = delay_seconds


class FloodWait(RetryLater):
    """Telegram answered 429: this one chat must wait `delay_seconds`; others need not."""


class Refused(DabirError):
    """A definite refusal. Nothing was done and nothing will be by repeating it."""


class Blocked(Refused):
    """403: the user blocked the bot, deleted the account, or never started the bot."""


class TopicGone(Refused):
    """There is no such topic in the group (any more). Nothing was sent."""


class TopicClosed(Refused):
    """The topic was closed. Nothing was sent."""


class Migrated(Refused):
    """The group was upgraded; the same chat now has the id `new_chat_id`."""

    def __init__(self, sentence: str, *, new_chat_id: int) -> None:
        super().__init__(sentence)
        self.new_chat_id = new_chat_id


class Unknown(DabirError):
    """The request left this machine and no answer came back: it may or may not have arrived."""


class StoreUnavailable(DabirError):
    """The database refused to work (full disk, read-only, corrupt). Names what to do.

    Nothing was written, unless `outcome_unknown`: then the connection was lost while the commit
    was on its way, and only a look into the database can tell.
    """

    def __init__(self, sentence: str, *, outcome_unknown: bool = False) -> None:
        super().__init__(sentence)
        self.outcome_unknown = outcome_unknown


class StatementRefused(DabirError):
    """A constraint was violated, or the SQL is wrong. `code` names it; values are never shown."""

    def __init__(self, sentence: str, *, code: str = "") -> None:
        super().__init__(sentence)
        self.code = code


class ModelFailure(StrEnum):
    """Why the model gave no usable answer."""

    WRONG_KEY = "wrong_key"  # 401/403: the key is missing, wrong or not allowed
    UNKNOWN_MODEL = "unknown_model"  # 404 or a 400 that names the model
    NO_BALANCE = "no_balance"  # 402, or a 429 that says the quota is used up
    RATE_LIMITED = "rate_limited"  # 429, after the retries
    CONTEXT_TOO_LONG = "context_too_long"  # the prompt does not fit the model's window
    CONTENT_FILTER = "content_filter"  # the provider refused the prompt or cut the answer
    EMPTY_ANSWER = "empty_answer"  # neither text nor a tool call
    MALFORMED_ARGUMENTS = "malformed_arguments"  # tool arguments that are not the JSON asked for
    CUT_OFF = "cut_off"  # the stream ended in the middle (no finish_reason)
    TIMED_OUT = "timed_out"  # no first token, or not done, within MODEL_TIMEOUT
    UNREACHABLE = "unreachable"  # refused, reset, DNS, TLS, 5xx after the retries
    BAD_REPLY = "bad_reply"  # an answer that is no chat completion (HTML, broken JSON, other 4xx)


class ModelFailed(DabirError):
    """The model gave no usable answer. `detail` is for the log: status and code, never text."""

    def __init__(self, failure: ModelFailure, detail: str = "") -> None:
        super().__init__(f"{failure.value}: {detail}" if detail else failure.value)
        self.failure = failure
        self.detail = detail
