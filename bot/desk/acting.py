"""What every act of an operator needs: who holds what, where to tell it, the lease, the record."""

from bot.coordinator import Coordinator
from bot.core.events import HumanClaimed, HumanMessaged
from bot.core.notices import Notice
from bot.core.states import Conversation, Holder, State
from bot.desk.places import Place
from bot.desk.staffing import Desk
from bot.scribe import Scribe
from bot.store import conversations, operator_actions
from bot.store.conversations import Contact
from bot.store.operator_actions import OperatorAction
from bot.visit import Visit


class Acting:
    def __init__(
        self, coordinator: Coordinator, scribe: Scribe, desk: Desk, *, human_lease_seconds: float
    ) -> None:
        self._coordinator = coordinator
        self._scribe = scribe
        self._desk = desk
        self._lease_seconds = human_lease_seconds

    def held(self, visit: Visit) -> Conversation | None:
        """The conversation that the visitor holds, locked; None, and they are told, if none."""
        for name in conversations.held_by(visit.sql, visit.user_id):
            loaded = conversations.load(visit.sql, name)
            if loaded is not None and holds(loaded[0], visit.user_id):
                return loaded[0]
        self.tell(visit, Notice.OP_NOTHING_HELD)
        return None

    def contact(self, visit: Visit, conversation_id: str) -> Contact:
        """The user of a conversation that exists."""
        known = conversations.peek(visit.sql, conversation_id)
        assert known is not None
        return known[1]

    def place(self, visit: Visit, c: Conversation) -> Place:
        """Where the holder sees the conversation."""
        contact = self._desk.contact(visit.sql, holder_of(c).operator_id)
        return Place(contact.chat_id, "", contact.language)

    def tell(self, visit: Visit, notice: Notice, about: str = "", **values: str) -> None:
        """Answer where the visitor acted. `about`: the conversation whose user is named in it."""
        self.tell_contact(visit, visit.contact, notice, about, **values)

    def tell_contact(
        self, visit: Visit, contact: Contact, notice: Notice, about: str = "", **values: str
    ) -> None:
        self._scribe.tell(
            visit.sql,
            contact,
            notice,
            values,
            key=f"{about}:{visit.key}" if about else visit.key,
            at=visit.at,
            aftermath=visit.aftermath,
        )

    def tell_holder(self, visit: Visit, c: Conversation, notice: Notice, **values: str) -> None:
        operator = self._desk.contact(visit.sql, holder_of(c).operator_id)
        self.tell_contact(visit, operator, notice, c.id, **values)

    def keep_lease(self, visit: Visit, c: Conversation) -> None:
        """Whoever works on a conversation that they hold is there, though nothing was sent yet."""
        holder = holder_of(c)
        until = visit.at + self._lease_seconds
        event = HumanClaimed(visit.at, holder.operator_id, holder.name, until)
        self._coordinator.step(visit.sql, c.id, event, visit.aftermath)

    def speak(self, visit: Visit, c: Conversation, message_id: int) -> None:
        """What stands on record under this id goes to the user, in the name of the holder."""
        until = visit.at + self._lease_seconds
        said = HumanMessaged(visit.at, visit.user_id, message_id, until)
        self._coordinator.step(visit.sql, c.id, said, visit.aftermath)

    def record(
        self, visit: Visit, c: Conversation, action: str, *, outcome: str = "done", note: str = ""
    ) -> None:
        """Who did what and when, never what was said."""
        done = OperatorAction(
            id=f"{visit.key}:{action}",
            at=visit.at,
            operator_id=visit.user_id,
            operator_name=visit.contact.user_name,
            action=action,
            conversation_id=c.id,
            outcome=outcome,
            note=note,
        )
        operator_actions.record(visit.sql, done)


def holds(c: Conversation, user_id: int) -> bool:
    return (
        c.state is State.HUMAN_ACTIVE and c.holder is not None and c.holder.operator_id == user_id
    )


def holder_of(c: Conversation) -> Holder:
    assert c.holder is not None, "somebody holds it"
    return c.holder


def place_of(visit: Visit) -> Place:
    """Where the visitor acts."""
    return Place(visit.contact.chat_id, "", visit.contact.language)
