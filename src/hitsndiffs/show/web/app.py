"""The page: its routes, and what each does."""

from __future__ import annotations

import asyncio
import contextlib
import io
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, BinaryIO

from starlette.applications import Starlette
from starlette.datastructures import FormData, Headers, MutableHeaders, UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.body_limit import RequestBodyLimitMiddleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    JSONResponse,
    PlainTextResponse,
    RedirectResponse,
    Response,
)
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS
from hitsndiffs.show.templating import policy, render
from hitsndiffs.show.web.forms import ROLE_BUTTONS, SETTINGS, reading_options, wishes
from hitsndiffs.show.web.jobs import Jobs
from hitsndiffs.show.web.settings import Settings, size
from hitsndiffs.show.web.tasks import KINDS, TABLES
from hitsndiffs.show.web.works import Work, Works

__all__ = ["Page", "make_app"]

#: Files of a piece of work that can be downloaded: media type, and the job that writes them.
DOWNLOADS = {
    "report.html": ("text/html; charset=utf-8", "rank"),
    **{f"{name}.csv": ("text/csv; charset=utf-8", "rank") for name in TABLES},
    "how-it-is-read.json": ("application/json", "plan"),
}
#: What a job replaces.
REPLACED = {
    "plan": ("plan", "rank", "compare"),
    "rank": ("rank", "compare"),
    "compare": ("compare",),
}
#: Fields with files that say something about the answers.
TOLD_BY_FILES = ("key_file", "sections_file", "groups_file", "clusters_file")
#: Where the result of a job is shown.
STEPS = {"plan": "plan", "rank": "result", "compare": "compare", "api": ""}
#: Seconds between two looks for what is to be removed, and between two looks at a client.
SWEEP, LOOK = 10.0, 0.05
#: Maximum files and fields of a form, bytes of a field that is not a file, and bytes around files.
FILES, FIELDS, LARGEST_FIELD, AROUND = 500, 5000, 500_000, 1_000_000
#: Headers of every answer.
HEADERS = {
    "Content-Security-Policy": policy(page=True),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",  # the address of a piece of work stays here
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
#: What Starlette's own errors say here.
HTTP_WORDS = {
    "Not Found": "There is no such page.",
    "Method Not Allowed": "This address does not accept that kind of request.",
}
ANSWERED = (HTTPException, InputError, ClientDisconnect, Exception)

Handler = Callable[[Request, Work], Awaitable[Response]]


def make_app(settings: Settings | None = None) -> Starlette:
    """Return the page as an ASGI application.

    Examples
    --------
    >>> [route.path for route in make_app().routes][:3]
    ['/', '/files', '/example']
    """
    return Page(settings or Settings()).app


class Guard:
    """Middleware that refuses what is announced as too large, and sets the headers of answers."""

    def __init__(self, app: ASGIApp, settings: Settings) -> None:
        self.app, self.most = app, settings.max_upload

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request."""

        async def dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        app = self.app
        if scope["type"] == "http":
            length = Headers(scope=scope).get("content-length", "0")
            if length.isdecimal() and int(length) > self.most + AROUND:
                app = PlainTextResponse(_too_large(self.most), 413)
        await app(scope, receive, dressed)


class Page:
    """Everything that the page can do."""

    def __init__(self, settings: Settings, jobs: Jobs | None = None) -> None:
        self.settings = settings
        self.jobs = jobs or Jobs(settings)
        self.works = Works(settings)
        here = self.with_work
        self.app = Starlette(
            routes=[
                Route("/", self.start),
                _post("/files", self.files),
                _post("/example", self.example),
                Route("/piece/{work}/plan", here(self.plan)),
                _post("/piece/{work}/plan", here(self.change_plan)),
                _post("/piece/{work}/rank", here(self.rank)),
                Route("/piece/{work}/result", here(self.result)),
                Route("/piece/{work}/compare", here(self.comparison)),
                _post("/piece/{work}/compare", here(self.compare)),
                _post("/piece/{work}/cancel", here(self.cancel)),
                _post("/piece/{work}/end", here(self.end)),
                _post("/piece/{work}/leave", self.leave),
                Route("/piece/{work}/progress", self.progress),
                Route("/piece/{work}/download/{name}", here(self.download)),
                _post("/api/rank", self.answer),
                Route("/favicon.ico", _nothing),
            ],
            middleware=[
                Middleware(Guard, settings=settings),
                Middleware(TrustedHostMiddleware, allowed_hosts=settings.hosts),
                Middleware(RequestBodyLimitMiddleware, max_body_size=settings.max_upload + AROUND),
            ],
            exception_handlers=dict.fromkeys(ANSWERED, self.problem),
            lifespan=self.lifespan,
        )

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Prepare for work, remove what is over while the server runs, and all at its end."""

        async def sweep() -> None:
            while True:
                await asyncio.sleep(SWEEP)
                await self.works.sweep()

        await self.jobs.prepare()
        sweeping = asyncio.create_task(sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            await self.works.close()
            await self.jobs.close()

    # -- files --------------------------------------------------------------------------------

    async def start(self, request: Request) -> Response:
        """The start: bring files, or try an example."""
        return self.show(
            "page/start.html",
            # what an example is stands first in the docstring of its function
            examples=[
                (name, (make.__doc__ or "").partition(":")[0])
                for name, make in self.settings.examples.items()
            ],
            over=request.query_params.get("over") == "1",
            max_upload=self.settings.max_upload,
        )

    async def files(self, request: Request) -> Response:
        """Store the uploaded files, and find out how to read them."""
        given = _files(await self.form(request), "files")
        if not given:
            raise InputError("No file was sent; choose one, or drop one onto the page.")
        work = self.works.begin()
        await work.take(given)
        return self.begin(work, "plan")

    async def example(self, request: Request) -> Response:
        """Use an example instead of uploaded files."""
        name = str((await self.form(request)).get("name"))
        make = self.settings.examples.get(name)
        if make is None:
            raise InputError("There is no such example.")
        work = self.works.begin()
        await work.take([(name, io.BytesIO(make().encode()))])
        return self.begin(work, "plan")

    # -- how they are read --------------------------------------------------------------------

    async def plan(self, _: Request, work: Work) -> Response:
        """Show how the files are read, or the progress, or what went wrong."""
        if work.is_working:
            return self.waiting(work)
        job, found = work.job, work.results.get("plan")
        if found is None and (job is None or job.task["kind"] != "plan" or job.state == "done"):
            return self.begin(work, "plan")
        return self.show(
            "page/plan.html",
            status=422 if found is None else 200,
            work=work,
            found=found,
            roles=ROLE_BUTTONS.get(found["plan"]["layout"]) if found else None,
            settings=SETTINGS,
            options=work.options,
            methods=METHODS,
        )

    async def change_plan(self, request: Request, work: Work) -> Response:
        """Read the files in another way."""
        form = await self.form(request)
        self.take_plan(form, work)
        work.wishes |= wishes(form)
        return self.begin(work, "plan")

    def take_plan(self, form: FormData, work: Work) -> None:
        """Take what the form says of the plan, and begin anew: what was known is out of date."""
        options = reading_options(form, work.results.get("plan"), work.options)
        if options != work.options:
            work.options, work.results = options, {}
        work.wishes, work.known = {}, {}

    # -- the ranking --------------------------------------------------------------------------

    async def rank(self, request: Request, work: Work) -> Response:
        """Rank with the settings of a form: that of the plan, or one of the result."""
        form = await self.form(request)
        if "planned" in form:
            self.take_plan(form, work)
        work.wishes |= wishes(form)
        for name, value in form.items():
            if name.startswith("known:") and isinstance(value, str) and value:
                work.known[name.removeprefix("known:")] = value
        for field in TOLD_BY_FILES:
            await self.keep_told(form, field, work)
        return self.begin(work, "rank")

    async def keep_told(self, form: FormData, field: str, work: Work, wish: str = "") -> None:
        """Keep a file that says something about the answers."""
        for name, content in _files(form, field):
            work.wishes[wish or field] = str(await work.keep(name, content, field))

    async def result(self, _: Request, work: Work) -> Response:
        """Show the result, or the progress, or what went wrong."""
        return self.found(work, "rank", "page/result.html", "outcome.html")

    async def compare(self, _: Request, work: Work) -> Response:
        """Try every method."""
        return self.begin(work, "compare")

    async def comparison(self, _: Request, work: Work) -> Response:
        """Show the methods side by side."""
        return self.found(work, "compare", "page/compare.html", "comparison.html")

    async def download(self, request: Request, work: Work) -> Response:
        """Send a file for download."""
        name = request.path_params["name"]
        media_type, kind = DOWNLOADS.get(name, ("", ""))
        path = work.folder / name
        if work.is_working or kind not in work.results or not path.is_file():
            raise HTTPException(404, "This file is not there; rank first.")
        given = work.files[0].stem if len(work.files) == 1 else "files"
        return FileResponse(
            path,
            media_type=media_type,
            filename=f"{given}-{name}",
            headers={"Content-Security-Policy": "default-src 'none'; sandbox"},
        )

    # -- a piece of work ----------------------------------------------------------------------

    def with_work(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Pass the piece of work to a handler; if it is over, go to the start."""

        async def handle(request: Request) -> Response:
            work = self.works.get(request.path_params["work"])
            if work is None:
                return RedirectResponse("/?over=1", 303)
            work.touch()
            return await handler(request, work)

        return handle

    def begin(self, work: Work, kind: str) -> Response:
        """Start a job in place of the one under way, and go to where its result will be."""
        if work.job is not None:
            work.job.stop()
        for old in REPLACED.get(kind, ()):
            work.results.pop(old, None)
        task = {"kind": kind, "folder": str(work.folder), "files": [str(f) for f in work.files]}
        more = {"options": work.options, "known": work.known, **work.wishes}
        work.job = self.jobs.start({**task, **more})
        return _to(work, STEPS[kind])

    def found(self, work: Work, kind: str, template: str, fragment: str) -> Response:
        """Show what a job found, or its progress, or what went wrong."""
        from markupsafe import Markup

        job = work.job
        if work.is_working:
            return self.waiting(work)
        if kind in work.results:
            shown = Markup((work.folder / fragment).read_text(encoding="utf-8"))
            return self.show(template, work=work, found=work.results[kind], fragment=shown)
        if job is None or job.task["kind"] == "plan" or job.state in ("cancelled", "done"):
            return _to(work, "plan")
        return self.show_problem(job.error, 422, work, fault=job.is_fault)

    def waiting(self, work: Work) -> Response:
        """Show how far the job is."""
        assert work.job is not None
        stages = KINDS[work.job.task["kind"]].stages
        return self.show(
            "page/working.html", work=work, stages=stages, state=work.job.state, **work.job.progress
        )

    async def progress(self, request: Request) -> Response:
        """How far the job is, for the page's script; a tab that asks shows the work."""
        work = self.works.get(request.path_params["work"])
        if work is None or work.job is None:
            return JSONResponse({"state": "over"}, 404)
        return JSONResponse({"state": work.job.state, **work.job.progress})

    async def leave(self, request: Request) -> Response:
        """Hear that a tab of a piece of work was closed."""
        work = self.works.get(request.path_params["work"])
        if work is None:
            return Response(status_code=410)
        work.touch(left=True)
        return Response(status_code=204)

    async def cancel(self, _: Request, work: Work) -> Response:
        """Stop the job."""
        kind = "" if work.job is None else work.job.task["kind"]
        if work.job is not None:
            await work.job.cancel()
        if "plan" not in work.results:
            return RedirectResponse("/", 303)
        return _to(work, "result" if kind == "compare" and "rank" in work.results else "plan")

    async def end(self, _: Request, work: Work) -> Response:
        """Remove everything of this piece of work."""
        await self.works.end(work)
        return RedirectResponse("/?over=1", 303)

    # -- programs -----------------------------------------------------------------------------

    async def answer(self, request: Request) -> Response:
        """Rank the users of a file, and keep nothing."""
        form = await self.form(request)
        files = _files(form, "file")
        if not files:
            raise HTTPException(400, "The file is missing: send it as the multipart field 'file'.")
        by, seed, group = (str(form.get(name, "")).strip() for name in ("by", "seed", "group"))
        if seed and not (seed.isascii() and seed.isdecimal() and len(seed) <= 18):
            raise InputError(f"seed must be a whole number below 10¹⁸; got {seed[:100]!r}.")
        work = self.works.begin()
        try:
            await work.take(files)
            work.options = {"group": group} if group else {}
            work.wishes = wishes(form) | {"by": by, "seed": int(seed) if seed else None}
            await self.keep_told(form, "answers", work, "key_file")
            self.begin(work, "api")
            job = work.job
            assert job is not None
            while not job.is_over:
                await asyncio.sleep(LOOK)
                if await request.is_disconnected():
                    raise ClientDisconnect
            if job.state != "done":
                raise HTTPException(500 if job.is_fault else 422, job.error or "It was stopped.")
            found = await asyncio.to_thread((work.folder / "ranking.json").read_bytes)
            return Response(found, media_type="application/json")
        finally:
            await self.works.end(work)

    # -- answers ------------------------------------------------------------------------------

    async def form(self, request: Request) -> FormData:
        """Return the fields and files of a form."""
        return await request.form(max_files=FILES, max_fields=FIELDS, max_part_size=LARGEST_FIELD)

    def show(
        self, template: str, status: int = 200, work: Work | None = None, **values: Any
    ) -> Response:
        """Return a page."""
        text = render(template, page=True, size=size, work=work, **values)
        return Response(text, status, media_type="text/html; charset=utf-8")

    def show_problem(
        self, sentence: str, status: int, work: Work | None, *, fault: bool = False
    ) -> Response:
        """Say one sentence on a page."""
        return self.show("page/problem.html", status, work=work, sentence=sentence, fault=fault)

    async def problem(self, request: Request, error: Exception) -> Response:
        """Say in one sentence why a request cannot be served."""
        match error:
            case ClientDisconnect():
                return Response(status_code=400)
            case HTTPException(status_code=413):
                sentence, status = _too_large(self.settings.max_upload), 413
            case HTTPException():
                sentence, status = HTTP_WORDS.get(error.detail, error.detail), error.status_code
            case InputError():
                sentence, status = str(error), 422
            case OSError():
                sentence, status = f"The files could not be kept ({error.strerror}).", 507
            case _:
                sentence, status = f"{type(error).__name__}.", 500
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": sentence}, status)
        work = self.works.get(request.path_params.get("work", ""))
        return self.show_problem(sentence, status, work, fault=status == 500)


def _post(path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
    """Return a route for a form of this page; its files are closed when it is answered.

    What another site makes a browser send is refused.
    """

    async def handle(request: Request) -> Response:
        here = f"http://{request.headers['host']}".lower()
        comes_from = request.headers.get("sec-fetch-site", "none")
        if comes_from not in ("same-origin", "none") or (
            request.headers.get("origin", here).lower() != here
        ):
            raise HTTPException(403, "This request came from another site, and was refused.")
        try:
            return await handler(request)
        finally:
            await request.close()

    return Route(path, handle, methods=["POST"])


def _to(work: Work, step: str) -> Response:
    """Send the browser to a step of a piece of work."""
    return RedirectResponse(f"/piece/{work.name}/{step}", 303)


def _too_large(most: int) -> str:
    return f"At most {size(most)} can be sent at once."


def _files(form: FormData, name: str) -> list[tuple[str, BinaryIO]]:
    """Return the files of a field, as name and content; an empty field has a file without name."""
    given = [f for f in form.getlist(name) if isinstance(f, UploadFile)]
    return [(f.filename, f.file) for f in given if f.filename]


async def _nothing(_: Request) -> Response:
    return Response(status_code=204)
