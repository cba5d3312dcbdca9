"""The lab's own routes, for other processes: the same controls as the Python object, as JSON.

GET    /lab/state                     bot, people, chats, waiting updates, network, version
POST   /lab/do/{action}               one of ACTIONS with its arguments as a JSON object
GET    /lab/messages/{chat_id}        what a person sees now (?thread_id=)
GET    /lab/journal                   calls (?after= &method= &chat_id= &wait=seconds for one more)
GET    /lab/typing/{chat_id}          chat actions so far
GET    /lab/presses                   callback queries and what the presser got to see
GET    /lab/faults                    armed faults by number
POST   /lab/faults                    arm one: the fields of faults.Fault → {"fault": number}
DELETE /lab/faults[/{number}]         disarm one, or all of them, and bring the network up
POST   /lab/network                   {"network": "up" | "cut" | "silent"}
POST   /lab/updates                   {"redeliver": id|null} the same id again · {"repeat": id|null}
                                      the same content, new id · {"reverse": true} the next
                                      answer newest first · {"kind": k, "payload": {…}} any update
GET    /lab/changes                   waits until version > ?since= (?timeout=) → {"version": n}

A refusal is 400 {"error": "…"}.
"""

import dataclasses
import inspect
from collections.abc import Awaitable, Callable
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.lab.botapi.faults import Network, fault_from_json
from bot.lab.botapi.groups import ALL_RIGHTS, Telegram
from bot.lab.botapi.records import Chat, Member, Message, User

ACTIONS: Final = frozenset(
    {
        "add_bot",
        "add_user",
        "create_group",
        "make_forum",
        "remove_bot",
        "set_bot_rights",
        "set_user_rights",
        "upgrade_group",
        "user_blocks",
        "user_closes_topic",
        "user_deletes",
        "user_deletes_topic",
        "user_edits",
        "user_forges_press",
        "user_forwards",
        "user_is_deactivated",
        "user_joins",
        "user_leaves",
        "user_opens_topic",
        "user_presses",
        "user_reacts",
        "user_reopens_topic",
        "user_sends",
        "user_sends_album",
        "user_sends_media",
        "user_starts",
        "user_unblocks",
    }
)
MAX_WAIT: Final = 60.0

Handler = Callable[[Request], Awaitable[Response]]


def plain(value: Any) -> Any:
    """Any result of an action as JSON."""
    match value:
        case Message():
            return value.data
        case User() | Chat() | Member():
            return value.as_json()
        case list() | tuple():
            return [plain(entry) for entry in value]
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return dataclasses.asdict(value)
        case _:
            return value


def _refused(reason: object) -> Response:
    return JSONResponse({"error": str(reason)}, status_code=400)


class Control:
    def __init__(self, world: Telegram) -> None:
        self._world = world

    def routes(self) -> list[Route]:
        gets: dict[str, Handler] = {
            "/lab/state": self.state,
            "/lab/messages/{chat_id:str}": self.messages,
            "/lab/journal": self.journal,
            "/lab/typing/{chat_id:str}": self.typing,
            "/lab/presses": self.presses,
            "/lab/faults": self.faults,
            "/lab/changes": self.changes,
        }
        posts: dict[str, Handler] = {
            "/lab/do/{action}": self.do,
            "/lab/faults": self.arm,
            "/lab/network": self.network,
            "/lab/updates": self.updates,
        }
        return [
            *(Route(path, handler, methods=["GET"]) for path, handler in gets.items()),
            *(Route(path, handler, methods=["POST"]) for path, handler in posts.items()),
            Route("/lab/faults", self.disarm, methods=["DELETE"]),
            Route("/lab/faults/{number:int}", self.disarm, methods=["DELETE"]),
        ]

    async def state(self, request: Request) -> Response:
        world = self._world
        return JSONResponse(
            {
                "bot": world.bot.as_json(),
                "users": [user.as_json() for user in world.users.values()],
                "chats": [chat.as_json() for chat in world.chats.values()],
                "pending_updates": len(world.updates),
                "polling": world.updates.polling,
                "webhook": world.webhook.url,
                "network": world.faults.network,
                "calls": world.journal.count,
                "version": world.version,
                "drafts": {str(chat): plain(draft) for chat, draft in world.drafts.items()},
            }
        )

    async def do(self, request: Request) -> Response:
        name = request.path_params["action"]
        if name not in ACTIONS:
            return _refused(f"no such action: {name}")
        action = getattr(self._world, name)
        try:
            given = await request.json() if await request.body() else {}
            if given.get("rights") == "all":
                given["rights"] = ALL_RIGHTS
            bound = inspect.signature(action).bind(**given)
            return JSONResponse({"result": plain(action(*bound.args, **bound.kwargs))})
        except (KeyError, TypeError, ValueError, AttributeError) as wrong:
            return _refused(wrong)

    async def messages(self, request: Request) -> Response:
        thread = request.query_params.get("thread_id")
        seen = self._world.messages(
            int(request.path_params["chat_id"]), thread_id=None if thread is None else int(thread)
        )
        return JSONResponse({"messages": [entry.as_json() for entry in seen]})

    async def journal(self, request: Request) -> Response:
        query = request.query_params
        chat = query.get("chat_id")

        def calls() -> list[Any]:
            return self._world.journal.calls(
                query.get("method", ""),
                chat_id=None if chat is None else int(chat),
                after=int(query.get("after", 0)),
            )

        found = await self._waited(calls, float(query.get("wait", 0))) or []
        return JSONResponse({"calls": [call.as_json() for call in found]})

    async def _waited(self, wanted: Callable[[], Any], seconds: float) -> Any:
        try:
            return await self._world.wait_for(
                lambda: wanted() or self._world.closing.is_set(), min(seconds, MAX_WAIT)
            )
        except TimeoutError:
            return wanted()

    async def typing(self, request: Request) -> Response:
        chat_id = int(request.path_params["chat_id"])
        actions = [plain(action) for action in self._world.actions if action.chat_id == chat_id]
        return JSONResponse({"actions": actions})

    async def presses(self, request: Request) -> Response:
        return JSONResponse({"presses": [plain(press) for press in self._world.presses.values()]})

    async def faults(self, request: Request) -> Response:
        armed = self._world.faults.armed()
        return JSONResponse({"faults": {str(number): plain(f) for number, f in armed.items()}})

    async def arm(self, request: Request) -> Response:
        try:
            fault = fault_from_json(await request.json())
        except (TypeError, ValueError) as wrong:
            return _refused(wrong)
        return JSONResponse({"fault": self._world.faults.add(fault)})

    async def disarm(self, request: Request) -> Response:
        number = request.path_params.get("number")
        if number is None:
            self._world.faults.clear()
        else:
            self._world.faults.remove(number)
        return JSONResponse({})

    async def network(self, request: Request) -> Response:
        try:
            self._world.faults.network = Network((await request.json())["network"])
        except (KeyError, TypeError, ValueError) as wrong:
            return _refused(wrong)
        self._world.changed()
        return JSONResponse({})

    async def updates(self, request: Request) -> Response:
        match await request.json():
            case {"redeliver": update_id}:
                return self._again(self._world.updates.redeliver, update_id)
            case {"repeat": update_id}:
                return self._again(self._world.updates.repeat, update_id)
            case {"reverse": bool(reverse)}:
                self._world.updates.reverse_next = reverse
                return JSONResponse({})
            case {"kind": str(kind), "payload": dict(payload)}:
                return JSONResponse({"update_id": self._world.hear(kind, payload)})
            case _:
                return _refused("redeliver, repeat, reverse, or kind with payload")

    @staticmethod
    def _again(deliver: Callable[[int | None], int | None], update_id: int | None) -> Response:
        try:
            return JSONResponse({"update_id": deliver(update_id)})
        except LookupError:
            return _refused("no such update")

    async def changes(self, request: Request) -> Response:
        since = int(request.query_params.get("since", 0))
        seconds = float(request.query_params.get("timeout", 20))
        await self._waited(lambda: self._world.version > since, seconds)
        return JSONResponse({"version": self._world.version})
