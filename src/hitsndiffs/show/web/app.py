"""The page: its routes, and what each does."""

from __future__ import annotations

import asyncio
import contextlib
import io
import secrets
import shutil
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS
from hitsndiffs.show.templating import asset, render
from hitsndiffs.show.web.api import description
from hitsndiffs.show.web.forms import ROLE_BUTTONS, SETTINGS, reading_options, wishes
from hitsndiffs.show.web.guard import Guard, TooLarge, TooSlow
from hitsndiffs.show.web.jobs import Job, Jobs
from hitsndiffs.show.web.settings import Settings, size
from hitsndiffs.show.web.tasks import KINDS
from hitsndiffs.show.web.works import Full, Work, Works

__all__ = ["Page", "make_app"]

#: Files of a piece of work that can be downloaded, and their media types.
DOWNLOADS = {
    "report.html": "text/html; charset=utf-8",
    "ranking.csv": "text/csv; charset=utf-8",
    "key.csv": "text/csv; charset=utf-8",
    "how-it-is-read.json": "application/json",
}
#: Seconds between two looks for what is to be removed, and between two looks at a client.
SWEEP, LOOK = 10.0, 0.05
#: Maximum fields of a form, and maximum bytes of a field that is not a file.
FIELDS, LARGEST_FIELD = 5000, 500_000
#: What Starlette's own errors say here.
HTTP_WORDS = {
    "Not Found": "There is no such page.",
    "Method Not Allowed": "This address does not accept that kind of request.",
}
ANSWERED = (HTTPException, InputError, TooLarge, TooSlow, Full, ClientDisconnect, Exception)

Handler = Callable[[Request, Work], Awaitable[Response]]


def make_app(settings: Settings | None = None) -> Starlette:
    """Return the page as an ASGI application.

    Examples
    --------
    >>> [route.path for route in make_app().routes][:3]
    ['/', '/files', '/example']
    """
    return Page(settings or Settings()).app


class Page:
    """Everything that the page can do."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.jobs = Jobs(settings)
        self.works = Works(settings)
        here = self.with_work
        self.app = Starlette(
            routes=[
                Route("/", self.start),
                _post("/files", self.files),
                _post("/example", self.example),
                Route("/work/{work}/plan", here(self.plan)),
                _post("/work/{work}/plan", here(self.change_plan)),
                _post("/work/{work}/rank", here(self.rank)),
                _post("/work/{work}/method", here(self.take_method)),
                _post("/work/{work}/known", here(self.know)),
                Route("/work/{work}/result", here(self.result)),
                Route("/work/{work}/compare", here(self.comparison)),
                _post("/work/{work}/compare", here(self.compare)),
                _post("/work/{work}/cancel", here(self.cancel)),
                _post("/work/{work}/end", here(self.end)),
                _post("/work/{work}/open", self.tab(self.works.open)),
                _post("/work/{work}/leave", self.tab(self.works.leave)),
                Route("/work/{work}/progress", self.progress),
                Route("/work/{work}/download/{name}", here(self.download)),
                _post("/api/rank", self.answer),
                Route("/api/openapi.json", self.describe),
                Route("/favicon.ico", _nothing),
            ],
            middleware=[Middleware(Guard, settings=settings)],
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

        self.jobs.prepare()
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
            request,
            "page/start.html",
            examples=[(n, _words(make)) for n, make in self.settings.examples.items()],
            over=request.query_params.get("over") == "1",
            max_upload=self.settings.max_upload,
        )

    async def files(self, request: Request) -> Response:
        """Store the uploaded files, and find out how to read them."""
        form = await self.form(request)
        given = [f for f in form.getlist("files") if isinstance(f, UploadFile) and f.filename]
        if not given:
            raise InputError("No file was sent; choose one, or drop one onto the page.")
        work = await self.works.begin()
        await asyncio.to_thread(work.take, [(f.filename, f.file) for f in given])
        return self.look(work)

    async def example(self, request: Request) -> Response:
        """Use an example instead of uploaded files."""
        name = str((await self.form(request)).get("name"))
        make = self.settings.examples.get(name)
        if make is None:
            raise InputError("There is no such example.")
        work = await self.works.begin()
        work.take([(name, io.BytesIO(make().encode()))])
        return self.look(work)

    # -- how they are read --------------------------------------------------------------------

    def look(self, work: Work) -> Response:
        """Find out how to read the files."""
        work.result = work.comparison = None
        self.begin(work, "plan")
        return _to(work, "plan")

    async def plan(self, request: Request, work: Work) -> Response:
        """Show how the files are read, or the progress, or what went wrong."""
        if work.is_working:
            return self.waiting(request, work)
        job = work.job
        failed = job is not None and job.task["kind"] == "plan" and job.state != "done"
        if not failed and work.plan is None:
            self.begin(work, "plan")
            return self.waiting(request, work)
        plan = None if failed else work.plan
        return self.show(
            request,
            "page/plan.html",
            status=422 if failed else 200,
            work=work,
            found=plan,
            roles=ROLE_BUTTONS.get(plan["plan"]["layout"]) if plan else None,
            settings=SETTINGS,
            options=work.options,
            methods=METHODS,
        )

    async def change_plan(self, request: Request, work: Work) -> Response:
        """Read the files in another way."""
        form = await self.form(request)
        self.options_from(form, work)
        work.wishes = wishes(form)
        return self.look(work)

    def options_from(self, form: FormData, work: Work) -> bool:
        """Take the roles and settings from the form; tell whether they changed."""
        plan = None if work.plan is None else work.plan["plan"]
        options = reading_options(form, plan, work.options)
        changed = options != work.options
        work.options = options
        return changed

    # -- the ranking --------------------------------------------------------------------------

    async def rank(self, request: Request, work: Work) -> Response:
        """Rank with the settings of the form."""
        form = await self.form(request)
        if self.options_from(form, work):
            work.plan = None
        work.wishes = wishes(form)
        work.known = {}
        given = form.get("key_file")
        if isinstance(given, UploadFile) and given.filename:
            work.wishes["key_file"] = await _kept(given, work)
        return self.rank_again(work)

    def rank_again(self, work: Work) -> Response:
        """Rank with what is known now."""
        work.result = work.comparison = None
        self.begin(work, "rank")
        return _to(work, "result")

    async def take_method(self, request: Request, work: Work) -> Response:
        """Rank again with another method."""
        work.wishes["method"] = wishes(await self.form(request))["method"]
        return self.rank_again(work)

    async def know(self, request: Request, work: Work) -> Response:
        """Rank again with answers to the page's questions."""
        for name, value in (await self.form(request)).items():
            if name.startswith("known:") and isinstance(value, str) and value:
                work.known[name.removeprefix("known:")] = value
        return self.rank_again(work)

    async def result(self, request: Request, work: Work) -> Response:
        """Show the result, or the progress, or what went wrong."""
        if work.is_working:
            return self.waiting(request, work)
        if work.result is None:
            return self.failed(request, work)
        fragment = _fragment(work, "outcome.html")
        return self.show(
            request, "page/result.html", work=work, found=work.result, fragment=fragment
        )

    async def compare(self, _: Request, work: Work) -> Response:
        """Try every method."""
        work.comparison = None
        self.begin(work, "compare")
        return _to(work, "compare")

    async def comparison(self, request: Request, work: Work) -> Response:
        """Show the methods side by side."""
        if work.is_working:
            return self.waiting(request, work)
        if work.comparison is None:
            return self.failed(request, work)
        fragment = _fragment(work, "comparison.html")
        return self.show(
            request, "page/compare.html", work=work, found=work.comparison, fragment=fragment
        )

    async def download(self, request: Request, work: Work) -> Response:
        """Send a file for download."""
        name = request.path_params["name"]
        if name not in DOWNLOADS:
            raise HTTPException(404)
        is_there = work.plan if name == "how-it-is-read.json" else work.result
        path = work.folder / name
        if work.is_working or is_there is None or not path.is_file():
            raise HTTPException(404, "This file is not there; rank first.")
        given = work.files[0].stem if len(work.files) == 1 else "files"
        return FileResponse(
            path,
            media_type=DOWNLOADS[name],
            filename=f"{given}-{name}",
            headers={"Content-Security-Policy": "default-src 'none'; sandbox"},
        )

    # -- a piece of work ----------------------------------------------------------------------

    def work_of(self, request: Request) -> Work | None:
        """Return the piece of work that the address names, with the result of its last job."""
        work = self.works.get(request.path_params.get("work", ""))
        if work is not None and work.job is not None and work.job.state == "done":
            kind, result = work.job.task["kind"], work.job.result
            if kind == "plan":
                work.plan = result
            elif kind == "rank":
                work.result, work.plan = result, result["plan"]
            else:
                work.comparison = result
        return work

    def with_work(self, handler: Handler) -> Callable[[Request], Awaitable[Response]]:
        """Pass the piece of work to a handler; if it is over, go to the start."""

        async def handle(request: Request) -> Response:
            work = self.work_of(request)
            if work is None:
                return RedirectResponse("/?over=1", 303)
            return await handler(request, work)

        return handle

    def tab(self, notice: Callable[[Work, str], None]) -> Callable[[Request], Awaitable[Response]]:
        """Hear from a tab of a piece of work that it was opened or closed."""

        async def handle(request: Request) -> Response:
            work = self.works.get(request.path_params["work"])
            if work is None:
                return Response(status_code=410)
            notice(work, request.query_params.get("page", "")[:40])
            return Response(status_code=204)

        return handle

    def begin(self, work: Work, kind: str) -> None:
        """Start a job; stop the one under way."""
        if work.job is not None:
            work.job.cancel()
        work.job = self.jobs.start(
            {
                "kind": kind,
                "folder": str(work.folder),
                "files": [str(file) for file in work.files],
                "options": work.options,
                "known": work.known,
                **work.wishes,
            }
        )

    def waiting(self, request: Request, work: Work) -> Response:
        """Show how far the job is."""
        assert work.job is not None
        stages = KINDS[work.job.task["kind"]].stages
        return self.show(request, "page/working.html", work=work, stages=stages, **_state(work.job))

    async def progress(self, request: Request) -> Response:
        """How far the job is, for the page's script."""
        work = self.work_of(request)
        if work is None or work.job is None:
            return JSONResponse({"state": "over"}, 404)
        return JSONResponse(_state(work.job))

    async def cancel(self, _: Request, work: Work) -> Response:
        """Stop the job."""
        job = work.job
        if job is not None and job.running is not None:
            job.cancel()
            await asyncio.wait([job.running])
        if work.plan is None:
            return RedirectResponse("/", 303)
        is_there = work.result is not None and job is not None and job.task["kind"] == "compare"
        return _to(work, "result" if is_there else "plan")

    async def end(self, _: Request, work: Work) -> Response:
        """Remove everything of this piece of work."""
        await self.works.end(work.name)
        return RedirectResponse("/?over=1", 303)

    # -- programs -----------------------------------------------------------------------------

    async def describe(self, _: Request) -> Response:
        """Return the description of the interface for programs."""
        return JSONResponse(description(self.settings))

    async def answer(self, request: Request) -> Response:
        """Rank the users of a file, and keep nothing."""
        form = await self.form(request)
        files = [f for f in form.getlist("file") if isinstance(f, UploadFile)]
        if not files:
            raise HTTPException(400, "The file is missing: send it as the multipart field 'file'.")
        text = {k: str(form.get(k, "")) for k in ("method", "by", "strong_user", "group", "seed")}
        seed = text["seed"].strip()
        if seed and not (seed.isascii() and seed.isdecimal() and len(seed) <= 18):
            raise InputError(f"seed must be a whole number below 10¹⁸; got {seed[:100]!r}.")
        work = await self.works.begin()
        try:
            await asyncio.to_thread(work.take, [(f.filename, f.file) for f in files])
            work.options = {"group": text["group"]} if text["group"] else {}
            work.wishes = {
                **wishes(text),
                "by": text["by"],
                "seed": int(seed) if seed else None,
            }
            answers = form.get("answers")
            if isinstance(answers, UploadFile):
                work.wishes["key_file"] = await _kept(answers, work)
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
            await self.works.end(work.name)

    # -- answers ------------------------------------------------------------------------------

    async def form(self, request: Request) -> FormData:
        """Return the fields and files of a form."""
        return await request.form(
            max_files=self.settings.max_files, max_fields=FIELDS, max_part_size=LARGEST_FIELD
        )

    def show(
        self,
        request: Request,
        template: str,
        status: int = 200,
        work: Work | None = None,
        **values: Any,
    ) -> Response:
        """Return a page."""
        from markupsafe import Markup

        page = secrets.token_urlsafe(9)
        if work is not None:
            self.works.open(work, page)
        text = render(
            template,
            nonce=request.state.nonce,
            page_style=Markup(asset("page/page.css")),
            page_script=Markup(asset("page/page.js")),
            size=size,
            work=work,
            page=page,
            **values,
        )
        return Response(text, status, media_type="text/html; charset=utf-8")

    def failed(self, request: Request, work: Work) -> Response:
        """Say what went wrong with a job."""
        job = work.job
        if job is None or job.task["kind"] == "plan" or job.state == "cancelled":
            return _to(work, "plan")
        return self.say(request, job.error, 422, work, fault=job.is_fault)

    def say(
        self,
        request: Request,
        sentence: str,
        status: int,
        work: Work | None = None,
        *,
        fault: bool = False,
    ) -> Response:
        """Say one sentence, as a page or as JSON."""
        if request.url.path.startswith("/api/"):
            return JSONResponse({"error": sentence}, status)
        return self.show(
            request, "page/problem.html", status, work=work, sentence=sentence, fault=fault
        )

    async def problem(self, request: Request, error: Exception) -> Response:
        """Say in one sentence why a request cannot be served."""
        most = size(self.settings.max_upload)
        match error:
            case ClientDisconnect():
                return Response(status_code=400)
            case HTTPException():
                sentence, status = HTTP_WORDS.get(error.detail, error.detail), error.status_code
            case InputError():
                sentence, status = str(error), 422
            case TooLarge():
                sentence, status = f"At most {most} can be sent at once.", 413
            case TooSlow():
                sentence, status = "The rest of the upload did not arrive; try again.", 408
            case Full():
                sentence = "Too many pieces of work are open; close some of their tabs, and wait "
                sentence, status = f"{sentence}a minute.", 503
            case OSError():
                sentence, status = f"The files could not be kept ({error.strerror}).", 507
            case _:
                sentence, status = f"{type(error).__name__}.", 500
        return self.say(request, sentence, status, self.work_of(request), fault=status == 500)


def _post(path: str, handler: Callable[[Request], Awaitable[Response]]) -> Route:
    """Return a route for a form, whose files are closed when it is answered."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        finally:
            await request.close()

    return Route(path, handle, methods=["POST"])


def _to(work: Work, step: str) -> Response:
    return RedirectResponse(f"/work/{work.name}/{step}", 303)


def _state(job: Job) -> dict[str, Any]:
    """How far a job is, as data."""
    line = "It is your turn next." if job.state == "waiting" else job.line
    return {
        "state": job.state,
        "line": line,
        "stage": job.stage,
        "done": job.done,
        "total": job.total,
    }


async def _kept(file: UploadFile, work: Work) -> str:
    """Store a key in the folder of the work; return its path."""
    path = work.folder / "key"

    def copy() -> None:
        with path.open("wb") as kept:
            shutil.copyfileobj(file.file, kept)

    await asyncio.to_thread(copy)
    return str(path)


def _words(make: Callable[[], str]) -> str:
    """Return what an example is, from the docstring of its function."""
    return (make.__doc__ or "").partition(":")[0]


async def _nothing(_: Request) -> Response:
    return Response(status_code=204)


def _fragment(work: Work, name: str) -> Any:
    """Return a part of the page that the job has rendered."""
    from markupsafe import Markup

    return Markup((work.folder / name).read_text(encoding="utf-8"))
