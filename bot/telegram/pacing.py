"""How fast messages may leave: https://core.telegram.org/bots/faq#my-bot-is-hitting-limits

Pure: the caller says what time it is (any clock that does not go back) and does the waiting. A
flood wait closes one chat and no other.
"""

from collections import deque
from dataclasses import dataclass, field

GROUP_WINDOW_SECONDS = 60.0


@dataclass(slots=True)
class _Chat:
    """`full_at` is when the chat would have used up all that it may send, at an even pace."""

    full_at: float = 0.0
    closed_until: float = 0.0
    in_group: deque[float] = field(default_factory=deque)  # when its last messages left


class Pace:
    """Tells how long a message has to wait. Forgets chats that have been idle."""

    def __init__(
        self,
        overall_per_second: int = 30,
        per_chat_seconds: float = 1.0,
        burst: int = 3,
        per_group_minute: int = 20,
    ) -> None:
        self._recent: deque[float] = deque(maxlen=overall_per_second)
        self._interval = per_chat_seconds
        self._slack = (burst - 1) * per_chat_seconds
        self._per_group_minute = per_group_minute
        self._chats: dict[int, _Chat] = {}
        self._forget_at = 1024

    def wait(self, chat_id: int, now: float, is_group: bool) -> float:
        """Return the seconds until a message to this chat may begin; 0.0 means now."""
        opens = now
        if len(self._recent) == self._recent.maxlen:
            opens = max(opens, self._recent[0] + 1.0)
        chat = self._chats.get(chat_id)
        if chat is not None:
            opens = max(opens, chat.closed_until, chat.full_at - self._slack)
            if is_group and len(chat.in_group) == self._per_group_minute:
                opens = max(opens, chat.in_group[0] + GROUP_WINDOW_SECONDS)
        return opens - now

    def sent(self, chat_id: int, now: float) -> None:
        """Count a message that began to leave at `now`."""
        self._recent.append(now)
        chat = self._remember(chat_id, now)
        chat.full_at = max(chat.full_at, now) + self._interval
        chat.in_group.append(now)

    def flood(self, chat_id: int, now: float, retry_after: float) -> None:
        """Close this chat for as long as Telegram asked."""
        chat = self._remember(chat_id, now)
        chat.closed_until = max(chat.closed_until, now + retry_after)

    def _remember(self, chat_id: int, now: float) -> _Chat:
        chat = self._chats.get(chat_id)
        if chat is None:
            self._forget_idle(now)
            chat = self._chats[chat_id] = _Chat(in_group=deque(maxlen=self._per_group_minute))
        return chat

    def _forget_idle(self, now: float) -> None:
        """Drop chats that nothing holds back, so rarely that it costs nothing per message."""
        if len(self._chats) < self._forget_at:
            return
        self._chats = {
            chat_id: chat for chat_id, chat in self._chats.items() if self._is_held(chat, now)
        }
        self._forget_at = max(1024, 2 * len(self._chats))

    @staticmethod
    def _is_held(chat: _Chat, now: float) -> bool:
        newest = chat.in_group[-1] if chat.in_group else now - GROUP_WINDOW_SECONDS
        return now < max(chat.closed_until, chat.full_at, newest + GROUP_WINDOW_SECONDS)
