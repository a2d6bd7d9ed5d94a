"""What all routes of the page share: visitors, visits, work and the form of responses."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from starlette.datastructures import FormData
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response

from hitsndiffs.show.templating import asset, render
from hitsndiffs.show.web.jobs import Workers
from hitsndiffs.show.web.settings import Settings, size
from hitsndiffs.show.web.uploads import receive_files
from hitsndiffs.show.web.visits import Visit, Visits
from hitsndiffs.show.web.worker import STAGES

__all__ = ["Frame", "hung_up"]

PAGE_BUSY = "The page is busy with the files of others; try again in a few minutes."

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

    async def http_error(self, request: Request, error: Exception) -> Response:
        """Answer an HTTP error, such as an unknown address."""
        assert isinstance(error, HTTPException)
        said = {
            "Not Found": "There is no such page.",
            "Method Not Allowed": "This address does not accept that kind of request.",
        }
        return self.say(request, said.get(error.detail, error.detail), error.status_code)

    async def input_error(self, request: Request, error: Exception) -> Response:
        """Answer input that cannot be used."""
        return self.say(request, str(error), 422, self.visit(request))

    async def too_large(self, request: Request, _: Exception) -> Response:
        """Answer an upload that is too large."""
        sentence = f"At most {size(self.settings.max_upload)} can be sent at once."
        return self.say(request, sentence, 413)

    async def too_slow(self, request: Request, _: Exception) -> Response:
        """Answer an upload that has stalled."""
        return self.say(request, "The rest of the upload did not arrive; try again.", 408)

    async def busy(self, request: Request, _: Exception) -> Response:
        """Answer when there is no room for more work or visits."""
        return self.say(request, PAGE_BUSY, 503)

    async def fault(self, request: Request, error: Exception) -> Response:
        """Answer an unexpected error."""
        return self.say(request, f"{type(error).__name__}.", 500, fault=True)


async def hung_up(_: Request, __: Exception) -> Response:
    """Answer a client that has disconnected."""
    return Response(status_code=400)
