"""What must be true once all trouble is over and everything had time to settle."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

from bot.telegram import payload
from bot.telegram.payload import EditOf, SendPart
from tests.simulation.people import Person
from tests.simulation.promises import Broken, Judge
from tests.simulation.remote_memory import RemoteMemory
from tests.simulation.store import Store
from tests.simulation.telegram import Chat, SimulatedTelegram

UNDER_WORK = ("ai_generating", "moderating", "bot_sending")


def unsettled(store: Store, telegram: SimulatedTelegram) -> Iterator[str]:
    """What still has to happen before anything can be said about the end."""
    for chat in telegram.chats.values():
        if chat.updates:
            yield f"{len(chat.updates)} updates of {chat.chat_id}"
    open_rows = "SELECT id, status FROM outbox WHERE status IN ('pending', 'sending', 'unknown')"
    for id, status in store.rows(open_rows):
        yield f"{id} is {status}"
    for (id,) in store.rows("SELECT conversation_id FROM debounces"):
        yield f"a debounce of {id}"
    for (id,) in store.rows("SELECT id FROM effects"):
        yield f"the effect {id}"
    for id, state in store.rows("SELECT id, state FROM conversations"):
        if state in UNDER_WORK:
            yield f"{id} is in {state}"
    for (id,) in store.rows("SELECT line_id FROM memory_outbox"):
        yield f"the memory line {id}"


def check_the_end(
    store: Store,
    telegram: SimulatedTelegram,
    judge: Judge,
    people: list[Person],
    remote: RemoteMemory | None,
) -> None:
    left = list(unsettled(store, telegram))
    if left:
        raise Broken("liveness", f"never settled: {'; '.join(left[:6])}", _chat_of(left[0]))
    _nothing_was_dropped(store, people)
    _everybody_knows_where_they_stand(store, telegram)
    _the_record_is_true(store, telegram)
    _memory_has_every_line_once(store, judge, remote)


def _chat_of(what: str) -> int:
    _, found, rest = what.partition("tg:")
    digits = "".join(c for c in rest.split(":")[0].split()[0] if c.isdigit()) if found else ""
    return int(digits or 0)


def _nothing_was_dropped(store: Store, people: list[Person]) -> None:
    known = set(store.rows("SELECT chat_id, message_id FROM messages"))
    told = dict(
        store.rows(
            "SELECT chat_id, count(*) FROM outbox WHERE id LIKE '%:op_nothing_held%' GROUP BY 1"
        )
    )
    for person in people:
        lost = [m for m, id in person.written.items() if (person.chat_id, id) not in known]
        if len(lost) > told.get(person.chat_id, 0):
            raise Broken("I4", f"{lost[0]} was dropped", person.chat_id)


def _everybody_knows_where_they_stand(store: Store, telegram: SimulatedTelegram) -> None:
    waiting = Counter(
        id
        for (id,) in store.rows(
            "SELECT conversation_id FROM messages"
            " WHERE author = 'user' AND version > 0 AND covered_by = ''"
        )
    )
    heads = store.rows(
        "SELECT id, chat_id, state, version, covered, blocked, requested_at FROM conversations"
    )
    for id, chat_id, state, _version, _covered, blocked, requested_at in heads:
        chat = telegram.chat(chat_id)
        if not waiting[id] or blocked or chat.blocked:
            continue
        match state:
            case "consent_required":
                wanted = "v1:start"
            case "handoff_pending":
                wanted = "v1:unrequest"
            case "delivery_unknown" if requested_at:
                wanted = "v1:arrived"
            case _:
                raise Broken("I4", f"{waiting[id]} messages wait in {state}", chat_id)
        if not _offered(chat, wanted):
            raise Broken("I4", f"nobody offers {wanted} in {state}", chat_id)


def _offered(chat: Chat, data: str) -> bool:
    return any(
        button.data.startswith(data)
        for shown in chat.visible()
        for row in shown.part.keyboard
        for button in row
    )


def _the_record_is_true(store: Store, telegram: SimulatedTelegram) -> None:
    """What the outbox says was sent stands in the chat, and what stands there was sent."""
    sent: Counter[Any] = Counter()
    doubtful: Counter[Any] = Counter()
    rows = store.rows("SELECT id, chat_id, payload, status, message_id FROM outbox ORDER BY seq")
    edits = {
        (chat_id, what.of): what.part
        for _, chat_id, written, status, _ in rows
        if isinstance(what := payload.read(written), EditOf) and status == "sent"
    }
    for id, chat_id, written, status, message_id in rows:
        what = payload.read(written)
        if not isinstance(what, SendPart):
            continue
        if status == "sent":
            sent[chat_id, what.part] += 1
            if message_id:
                shown = telegram.chat(chat_id).messages.get(message_id)
                says = {what.part}
                if what.stands_for is not None:  # of several copies in a chat, one is edited
                    says.add(edits.get((chat_id, what.stands_for), what.part))
                if shown is None or not shown.from_bot or shown.part not in says:
                    raise Broken("I7", f"{id} is not message {message_id}", chat_id)
                if shown.deleted:
                    raise Broken("I7", f"{id} was deleted", chat_id)
        elif status in ("unresolved", "failed"):  # given up, or closed, before it was known
            doubtful[chat_id, what.part] += 1
    for key, times in sent.items():
        if telegram.shown[key] > times + doubtful[key]:
            raise Broken("I7", f"{times} sent, {telegram.shown[key]} shown: {key[1]}", key[0])


def _memory_has_every_line_once(store: Store, judge: Judge, remote: RemoteMemory | None) -> None:
    if remote is None:
        held = set(store.rows("SELECT namespace, line_id FROM memory_lines"))
    else:
        held = {(address.namespace, address.line_id) for address in remote.held}
    if held != judge.memory_ids:
        missing, extra = judge.memory_ids - held, held - judge.memory_ids
        raise Broken("I9", f"{len(missing)} lines missing, {len(extra)} unknown")
