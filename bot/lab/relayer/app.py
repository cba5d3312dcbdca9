"""The relayer's routes around one `Relayer`."""

import contextlib
import json
from collections.abc import AsyncIterator, Callable
from email.utils import formatdate
from typing import Any, TypeAlias

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bot.lab.relayer.refusals import Refused
from bot.lab.relayer.signatures import Caller, caller_of, check_session
from bot.lab.relayer.world import PACKAGE, Job, Relayer, written
from bot.lab.serve import serve

Json: TypeAlias = dict[str, Any]
Answer: TypeAlias = Callable[[Caller, Json, Request], tuple[int, Json]]
BULK_MOST = 20
BODY_BYTES = 2 * 1024 * 1024
LIST_MOST = 500
# Points; whatever is not here costs 1.
POINTS = {"remember": 5, "bulk": 10, "agents": 2}
VERSION = {
    "relayerVersion": "0.2.1",
    "apiVersion": "1.0.0",
    "minSupportedSdk": {"typescript": "0.0.1", "python": "0.1.0"},
}


def build_app(world: Relayer) -> Starlette:
    """Everything but /version, /health, /config and /rpc must be signed."""
    desk = _Desk(world)
    signed = [
        ("POST", "/api/remember", desk.remember, POINTS["remember"], True),
        ("GET", "/api/remember/{job_id}", desk.job, 1, False),
        ("POST", "/api/remember/bulk", desk.bulk, POINTS["bulk"], True),
        ("POST", "/api/remember/bulk/status", desk.bulk_status, 1, True),
        ("POST", "/api/recall", desk.recall, 1, True),
        ("POST", "/api/stats", desk.stats, 1, False),
        ("GET", "/v1/owners/{owner}/namespaces", desk.namespaces, 1, False),
        ("GET", "/v1/owners/{owner}/memories", desk.memories, 1, False),
    ]
    routes = [
        Route(path, _signed(world, answer, points, session=session), methods=[method])
        for method, path, answer, points, session in signed
    ]
    return Starlette(
        routes=[
            Route("/version", _open(world, desk.version)),
            Route("/health", _open(world, desk.health)),
            Route("/config", _open(world, desk.config)),
            Route("/rpc", _open(world, desk.rpc), methods=["POST"]),
            *routes,
        ]
    )


@contextlib.asynccontextmanager
async def serve_relayer(world: Relayer, *, port: int = 0) -> AsyncIterator[str]:
    """Serve a world on loopback for the block; yields its URL, without `walrus+`."""
    async with serve(build_app(world), port=port) as url:
        yield url


class _Desk:
    """The answers, each with its status. Raise Refused."""

    def __init__(self, world: Relayer) -> None:
        self._world = world

    def version(self, request: Request) -> Json:
        return VERSION

    def health(self, request: Request) -> Json:
        return {"status": "ok", "version": "0.2.1", "mode": "lab", "write_ready": True, **VERSION}

    def config(self, request: Request) -> Json:
        # Any other network sends the official client to the internet.
        rpc = str(request.base_url).rstrip("/") + "/rpc"
        return {"packageId": PACKAGE, "network": "localnet", "suiRpcUrl": rpc}

    def rpc(self, request: Request) -> Json:
        return {"jsonrpc": "2.0", "id": 1, "result": {"data": {"version": "1"}}}

    def remember(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        key = str(body.get("idempotency_key") or "")
        job = self._world.remember(caller.owner, body["text"], _namespace(body), key)
        told: Json = {"job_id": job.id, "status": "running"}
        return 202, told | ({"idempotency_key": key} if key else {})

    def bulk(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        items = body["items"]
        if not 1 <= len(items) <= BULK_MOST:
            raise Refused(400, f"items must have 1 to {BULK_MOST} elements")
        jobs = [self._world.remember(caller.owner, i["text"], _namespace(i)).id for i in items]
        return 202, {"job_ids": jobs, "total": len(jobs), "status": "running"}

    def job(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        job = self._own(caller, request.path_params["job_id"])
        if job is None:
            raise Refused(404, f"Job {request.path_params['job_id']} not found")
        about = {"owner": job.owner, "namespace": job.namespace}
        return 200, self._told(job) | about

    def bulk_status(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        ids = body["job_ids"]
        if not 1 <= len(ids) <= BULK_MOST:
            raise Refused(400, f"job_ids must have 1 to {BULK_MOST} elements")
        results = []
        for job_id in ids:
            job = self._own(caller, job_id)
            results.append(self._told(job) if job else {"job_id": job_id, "status": "not_found"})
        return 200, {"results": results}

    def recall(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        limit = int(body.get("limit", 10))
        return 200, self._world.recall(caller.owner, body["query"], _namespace(body), limit)

    def stats(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        asked = _namespace(body)
        shown = list(self._world.shown(caller.owner, asked))
        return 200, {
            "memory_count": len(shown),
            "storage_bytes": sum(len(job.text.encode()) for job in shown),
            "namespace": self._world.faults.answers_namespace or asked,
            "owner": caller.owner,
        }

    def namespaces(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        held: dict[str, list[Job]] = {}
        for job in self._world.shown(_owner(caller, request)):
            held.setdefault(job.namespace, []).append(job)
        rows = [
            {
                "id": str(number),
                "name": name,
                "memory_count": len(jobs),
                "storage_used": sum(len(job.text.encode()) for job in jobs),
                "updated_at": written(jobs[-1].accepted_at),
            }
            for number, (name, jobs) in enumerate(held.items())
        ]
        return 200, _paged("namespaces", rows, request, "updated_after")

    def memories(self, caller: Caller, body: Json, request: Request) -> tuple[int, Json]:
        rows = [
            {
                "memory_id": job.id,
                "namespace_id": job.namespace,
                "blob_id": job.blob_id,
                "created_at": written(job.accepted_at),
                "size": len(job.text.encode()),
                "agent_id": caller.key,
                "package_id": PACKAGE,
                "status": "active",
                "expires_at": written(self._world.expires_at(job)),
            }
            for job in self._world.shown(_owner(caller, request))
        ]
        return 200, _paged("memories", rows, request, "cursor")

    def _own(self, caller: Caller, job_id: str) -> Job | None:
        job = self._world.jobs.get(job_id)
        return job if job and job.owner == caller.owner else None

    def _told(self, job: Job) -> Json:
        state = self._world.state(job)
        told: Json = {"job_id": job.id, "status": state}
        if state in ("uploaded", "done"):
            told["blob_id"] = job.blob_id
        if state == "failed":
            told["error"] = "seal encrypt failed: RpcError: Too Many Requests"
        return told


def _signed(world: Relayer, answer: Answer, points: int, *, session: bool) -> Any:
    async def endpoint(request: Request) -> Response:
        body = await request.body()
        path = request.url.path + (f"?{request.url.query}" if request.url.query else "")
        world.calls.append((request.method, request.url.path))
        try:
            if world.faults.down:
                raise Refused(503, "Service unavailable")
            if len(body) > BODY_BYTES:
                raise Refused(413, "Body too large")
            caller = caller_of(world, request.method, path, body, request.headers)
            if session:
                check_session(world, caller, request.headers.get("x-seal-session", ""))
            world.spend(caller.key, caller.account, points)
            status, told = answer(caller, _object(body), request)
            if world.faults.cut_next and status == 202:
                world.faults.cut_next -= 1
                raise Refused(500, "Internal server error (traceId 0)")
        except Refused as refused:
            return _refusal(world, refused)
        return JSONResponse(told, status_code=status, headers=_date(world))

    return endpoint


def _open(world: Relayer, answer: Callable[[Request], Json]) -> Any:
    async def endpoint(request: Request) -> Response:
        world.calls.append((request.method, request.url.path))
        if world.faults.down:
            return _refusal(world, Refused(503, "Service unavailable"))
        return JSONResponse(answer(request), headers=_date(world))

    return endpoint


def _refusal(world: Relayer, refused: Refused) -> Response:
    headers = {**_date(world), **refused.headers}
    if not refused.body:
        return Response(status_code=refused.status, headers=headers)
    return JSONResponse(refused.body, status_code=refused.status, headers=headers)


def _date(world: Relayer) -> dict[str, str]:
    return {"date": formatdate(world.clock(), usegmt=True)}


def _object(body: bytes) -> Json:
    if not body:
        return {}
    try:
        said = json.loads(body)
    except ValueError as error:
        raise Refused(400, "Invalid JSON") from error
    if not isinstance(said, dict):
        raise Refused(400, "Invalid JSON")
    return said


def _namespace(body: Json) -> str:
    return str(body.get("namespace", "default"))


def _owner(caller: Caller, request: Request) -> str:
    if request.path_params["owner"] != caller.owner:
        raise Refused(403, "Not your account")
    return caller.owner


def _paged(name: str, rows: list[Json], request: Request, cursor: str) -> Json:
    start = int(request.query_params.get(cursor) or 0)
    most = min(int(request.query_params.get("limit") or 100), LIST_MOST)
    end = start + most
    more = end < len(rows)
    return {
        name: rows[start:end],
        "next_cursor": str(end) if more else None,
        "has_more": more,
        "snapshot_version": "0",
    }
