"""What all routes of the page share: visitors, visits, work and the form of responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from hitsndiffs.errors import InputError
from hitsndiffs.show.templating import asset, render
from hitsndiffs.show.web.jobs import Busy, Workers
from hitsndiffs.show.web.security import TooLarge, TooSlow
from hitsndiffs.show.web.settings import Settings, size
from hitsndiffs.show.web.uploads import receive_files
from hitsndiffs.show.web.visits import Visit, Visits
from hitsndiffs.show.web.worker import STAGES

__all__ = ["ANSWERED", "Frame"]

BUSY = "The page is busy with the files of others; try again in a few minutes."
#: What Starlette's own errors say here.
HTTP_WORDS = {
    "Not Found": "There is no such page.",
    "Method Not Allowed": "This address does not accept that kind of request.",
}
#: Errors that :meth:`Frame.problem` answers.
ANSWERED = (HTTPException, InputError, TooLarge, TooSlow, Busy, ClientDisconnect, Exception)

Handler = Callable[[Request, Visit], Awaitable[Response]]


class Frame:
    """A server with its visits and workers."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.workers = Workers(settings)
        self.visits = Visits(settings, self.workers)
        self.cookie = f"hnd-{settings.port}"

    # -- who ----------------------------------------------------------------------------------

    def visitor(self, request: Request) -> str | None:
        """Return the visitor, by the cookie of this server."""
        found = request.cookies.get(self.cookie)
        return found if self.visits.is_ours(found) else None

    def visit(self, request: Request) -> Visit | None:
        """Return the visitor's visit, with the results of its finished work."""
        visitor = self.visitor(request)
        visit = None if visitor is None else self.visits.get(visitor)
        if visit is not None:
            self.settle(visit)
        return visit

    def visiting(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Pass the visit to a handler; without a visit, redirect to the start."""

        async def handle(request: Request) -> Response:
            visit = self.visit(request)
            if visit is None:
                return RedirectResponse("/?over=1", 303)
            return await handler(request, visit)

        return handle

    def posting(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Pass the visit to a handler, with the checked form in ``request.state.form``."""

        async def handle(request: Request, visit: Visit) -> Response:
            await self.form(request)
            return await handler(request, visit)

        return self.visiting(handle)

    async def form(self, request: Request) -> FormData:
        """Return the fields of a form, after checking its token, which names the visitor."""
        form = await receive_files(request, self.settings)
        visitor = self.visitor(request)
        request.state.form, request.state.visitor = form, visitor
        token = form.get("token")
        if visitor is None or not self.visits.is_token(visitor, str(token)):
            raise HTTPException(
                403, "This form is out of date; go back to the start and try again."
            )
        return form

    # -- work ---------------------------------------------------------------------------------

    def work(self, visit: Visit, kind: str) -> None:
        """Start a piece of work for a visit; stop the one under way."""
        self.workers.cancel(visit.job)
        visit.job = self.workers.start(
            {
                "kind": kind,
                "folder": str(visit.folder),
                "files": [str(file) for file in visit.files],
                "options": visit.options,
                "known": visit.known,
                **visit.wishes,
            }
        )

    def settle(self, visit: Visit) -> None:
        """Store the result of finished work in the visit."""
        job = visit.job
        if job is None or job.state != "done":
            return
        if job.task["kind"] == "plan":
            visit.plan = job.result
        elif job.task["kind"] == "rank":
            visit.result, visit.plan = job.result, job.result["plan"]
        else:
            visit.comparison = job.result

    def waiting(self, request: Request, visit: Visit) -> Response:
        """Show how far the work is."""
        assert visit.job is not None
        return self.show(
            request,
            "page/working.html",
            visit=visit,
            stages=STAGES[visit.job.task["kind"]],
            **self.state(visit),
        )

    def state(self, visit: Visit) -> dict[str, Any]:
        """Return how far the work is, as data."""
        job = visit.job
        if job is None:
            return {"state": "done", "line": "", "stage": 0, "done": 0, "total": 0}
        line = job.line
        if job.state == "waiting":
            before = self.workers.before(job)
            line = "Others are ahead of you." if before else "It is your turn next."
        return {
            "state": job.state,
            "line": line,
            "stage": job.stage,
            "done": job.done,
            "total": job.total,
        }

    # -- answers ------------------------------------------------------------------------------

    def show(self, request: Request, template: str, status: int = 200, **values: Any) -> Response:
        """Return a page."""
        from markupsafe import Markup

        visitor = values.pop("visitor", None) or self.visitor(request)
        text = render(
            template,
            nonce=request.state.nonce,
            page_style=Markup(asset("page/page.css")),
            page_script=Markup(asset("page/page.js")),
            token="" if visitor is None else self.visits.token(visitor),
            size=size,
            **values,
        )
        return Response(text, status, media_type="text/html; charset=utf-8")

    def failed(self, request: Request, visit: Visit) -> Response:
        """Say what went wrong with a piece of work."""
        job = visit.job
        if job is None or job.task["kind"] == "plan" or job.state == "cancelled":
            return RedirectResponse("/plan", 303)
        return self.say(request, job.error, 422, visit, fault=job.is_fault)

    def say(
        self,
        request: Request,
        sentence: str,
        status: int,
        visit: Visit | None = None,
        *,
        fault: bool = False,
    ) -> Response:
        """Say one sentence, as a page or as JSON."""
        if request.url.path.startswith(("/api/", "/progress")):
            return JSONResponse({"error": sentence}, status)
        return self.show(
            request, "page/problem.html", status, sentence=sentence, visit=visit, fault=fault
        )

    async def problem(self, request: Request, error: Exception) -> Response:
        """Say in one sentence why a request cannot be served."""
        visit = None
        match error:
            case ClientDisconnect():
                return Response(status_code=400)
            case HTTPException():
                sentence, status = HTTP_WORDS.get(error.detail, error.detail), error.status_code
            case InputError():
                sentence, status, visit = str(error), 422, self.visit(request)
            case TooLarge():
                sentence, status = (
                    f"At most {size(self.settings.max_upload)} can be sent at once.",
                    413,
                )
            case TooSlow():
                sentence, status = "The rest of the upload did not arrive; try again.", 408
            case Busy():
                sentence, status = BUSY, 503
            case _:
                sentence, status = f"{type(error).__name__}.", 500
        return self.say(request, sentence, status, visit, fault=status == 500)
