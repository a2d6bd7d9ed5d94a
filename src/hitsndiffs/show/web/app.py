"""The page: its routes, and what each does."""

from __future__ import annotations

import asyncio
import contextlib
import io
import shutil
from collections.abc import AsyncIterator, Callable
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from hitsndiffs.errors import InputError
from hitsndiffs.methods import METHODS
from hitsndiffs.show.web.api import Api
from hitsndiffs.show.web.forms import ROLE_BUTTONS, SETTINGS, reading_options, wishes
from hitsndiffs.show.web.frame import ANSWERED, Frame
from hitsndiffs.show.web.security import Guard
from hitsndiffs.show.web.settings import Settings
from hitsndiffs.show.web.uploads import post_route, take_files
from hitsndiffs.show.web.visits import Visit

__all__ = ["make_app"]

#: Files of a visit that can be downloaded, and their media types.
DOWNLOADS = {
    "ranking.csv": "text/csv; charset=utf-8",
    "key.csv": "text/csv; charset=utf-8",
    "report.html": "text/html; charset=utf-8",
    "plan.json": "application/json",
}
SWEEP = 60.0


def make_app(settings: Settings | None = None) -> Starlette:
    """Return the page as an ASGI application.

    Examples
    --------
    >>> [route.path for route in make_app().routes][:3]
    ['/', '/files', '/example']
    """
    return Page(settings or Settings()).app


class Page(Frame):
    """Everything that the page can do."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        api = Api(settings, self.workers, self.visits)
        self.app = Starlette(
            routes=[
                Route("/", self.start),
                post_route("/files", self.files),
                post_route("/example", self.example),
                Route("/plan", self.visiting(self.plan)),
                post_route("/plan", self.posting(self.change_plan)),
                post_route("/rank", self.posting(self.rank)),
                post_route("/method", self.posting(self.take_method)),
                post_route("/known", self.posting(self.know)),
                Route("/result", self.visiting(self.result)),
                Route("/compare", self.visiting(self.comparison)),
                post_route("/compare", self.posting(self.compare)),
                post_route("/cancel", self.posting(self.cancel)),
                post_route("/end", self.end),
                Route("/progress", self.progress),
                Route("/download/{name}", self.visiting(self.download)),
                Route("/favicon.ico", _nothing),
                *api.routes,
            ],
            middleware=[Middleware(Guard, settings=settings)],
            exception_handlers=dict.fromkeys(ANSWERED, self.problem),
            lifespan=self.lifespan,
        )

    @contextlib.asynccontextmanager
    async def lifespan(self, _: Starlette) -> AsyncIterator[None]:
        """Prepare for work, remove idle visits while the server runs, and everything at its end."""

        async def sweep() -> None:
            while True:
                await asyncio.sleep(SWEEP)
                self.visits.sweep()

        self.workers.prepare()
        sweeping = asyncio.create_task(sweep())
        try:
            yield
        finally:
            sweeping.cancel()
            await asyncio.to_thread(self.visits.close)

    # -- files --------------------------------------------------------------------------------

    async def start(self, request: Request) -> Response:
        """The start: upload files, or try an example."""
        visitor = self.visitor(request) or self.visits.new_visitor()
        visit = self.visit(request)
        response = self.show(
            request,
            "page/start.html",
            visitor=visitor,
            going_on=visit,
            examples=[(n, _words(make)) for n, make in self.settings.examples.items()],
            over=request.query_params.get("over") == "1" and visit is None,
            max_upload=self.settings.max_upload,
        )
        response.set_cookie(self.cookie, visitor, httponly=True, samesite="strict", path="/")
        return response

    async def files(self, request: Request) -> Response:
        """Store the uploaded files, and find out how to read them."""
        form = await self.form(request)
        given = [f for f in form.getlist("files") if isinstance(f, UploadFile) and f.filename]
        if not given:
            raise InputError("No file was sent; choose one, or drop one onto the page.")
        visit = self.visits.begin(request.state.visitor, sum(file.size or 0 for file in given))
        await asyncio.to_thread(take_files, visit, [(f.filename, f.file) for f in given])
        return self.look(visit)

    async def example(self, request: Request) -> Response:
        """Use an example instead of uploaded files."""
        form = await self.form(request)
        name = str(form.get("name"))
        make = self.settings.examples.get(name)
        if make is None:
            raise InputError("There is no such example.")
        text = make().encode()
        visit = self.visits.begin(request.state.visitor, len(text))
        take_files(visit, [(name, io.BytesIO(text))])
        return self.look(visit)

    # -- the plan -----------------------------------------------------------------------------

    def look(self, visit: Visit) -> Response:
        """Find out how to read the files."""
        visit.result = visit.comparison = None
        self.work(visit, "plan")
        return RedirectResponse("/plan", 303)

    async def plan(self, request: Request, visit: Visit) -> Response:
        """Show how the files are read, or the progress, or what went wrong."""
        if visit.is_working:
            return self.waiting(request, visit)
        job = visit.job
        failed = job is not None and job.task["kind"] == "plan" and job.state != "done"
        if not failed and visit.plan is None:
            self.work(visit, "plan")
            return self.waiting(request, visit)
        plan = None if failed else visit.plan
        return self.show(
            request,
            "page/plan.html",
            status=422 if failed else 200,
            visit=visit,
            found=plan,
            roles=ROLE_BUTTONS.get(plan["plan"]["layout"]) if plan else None,
            settings=SETTINGS,
            options=visit.options,
            methods=METHODS,
        )

    async def change_plan(self, request: Request, visit: Visit) -> Response:
        """Read the files in another way."""
        self.options_from(request, visit)
        visit.wishes = wishes(request.state.form)
        return self.look(visit)

    def options_from(self, request: Request, visit: Visit) -> bool:
        """Take the roles and settings from the form; tell whether they changed."""
        plan = None if visit.plan is None else visit.plan["plan"]
        options = reading_options(request.state.form, plan, visit.options)
        changed = options != visit.options
        visit.options = options
        return changed

    # -- the ranking --------------------------------------------------------------------------

    async def rank(self, request: Request, visit: Visit) -> Response:
        """Rank with the settings of the form."""
        form = request.state.form
        if self.options_from(request, visit):
            visit.plan = None
        visit.wishes = wishes(form)
        visit.known = {}
        given = form.get("key_file")
        if isinstance(given, UploadFile) and given.filename:
            path = visit.folder / "key"
            with path.open("wb") as file:
                await asyncio.to_thread(shutil.copyfileobj, given.file, file)
            visit.wishes["key_file"] = str(path)
        return self.rank_again(visit)

    def rank_again(self, visit: Visit) -> Response:
        """Rank with what is known now."""
        visit.result = visit.comparison = None
        self.work(visit, "rank")
        return RedirectResponse("/result", 303)

    async def take_method(self, request: Request, visit: Visit) -> Response:
        """Rank again with another method."""
        visit.wishes["method"] = wishes(request.state.form)["method"]
        return self.rank_again(visit)

    async def know(self, request: Request, visit: Visit) -> Response:
        """Rank again with the visitor's answers to the page's questions."""
        for name, value in request.state.form.items():
            if name.startswith("known:") and value:
                visit.known[name.removeprefix("known:")] = str(value)
        return self.rank_again(visit)

    async def result(self, request: Request, visit: Visit) -> Response:
        """Show the report, or the progress, or what went wrong."""
        if visit.is_working:
            return self.waiting(request, visit)
        if visit.result is None:
            return self.failed(request, visit)
        return self.show(
            request,
            "page/result.html",
            visit=visit,
            found=visit.result,
            fragment=_fragment(visit, "result.html"),
        )

    # -- all methods --------------------------------------------------------------------------

    async def compare(self, _: Request, visit: Visit) -> Response:
        """Try every method."""
        visit.comparison = None
        self.work(visit, "compare")
        return RedirectResponse("/compare", 303)

    async def comparison(self, request: Request, visit: Visit) -> Response:
        """Show the methods side by side."""
        if visit.is_working:
            return self.waiting(request, visit)
        if visit.comparison is None:
            return self.failed(request, visit)
        return self.show(
            request,
            "page/compare.html",
            visit=visit,
            found=visit.comparison,
            fragment=_fragment(visit, "comparison.html"),
        )

    # -- work ---------------------------------------------------------------------------------

    async def progress(self, request: Request) -> Response:
        """The progress of the work, for the page's script."""
        visit = self.visit(request)
        if visit is None:
            return JSONResponse({"state": "over"}, 404)
        return JSONResponse(self.state(visit))

    async def cancel(self, _: Request, visit: Visit) -> Response:
        """Stop the work."""
        job = visit.job
        self.workers.cancel(job)
        for _look in range(100):
            if not visit.is_working:
                break
            await asyncio.sleep(0.05)
        if visit.plan is None:
            return RedirectResponse("/", 303)
        if visit.result is not None and job is not None and job.task["kind"] == "compare":
            return RedirectResponse("/result", 303)
        return RedirectResponse("/plan", 303)

    async def end(self, request: Request) -> Response:
        """Forget the visit."""
        await self.form(request)
        await asyncio.to_thread(self.visits.end, request.state.visitor)
        return RedirectResponse("/", 303)

    async def download(self, request: Request, visit: Visit) -> Response:
        """Send a file for download."""
        name = request.path_params["name"]
        if name not in DOWNLOADS:
            raise HTTPException(404)
        is_there = visit.plan if name == "plan.json" else visit.result
        path = visit.folder / name
        if visit.is_working or is_there is None or not path.is_file():
            raise HTTPException(404, "This file is not there; rank first.")
        given = visit.files[0].stem if len(visit.files) == 1 else "files"
        return FileResponse(
            path,
            media_type=DOWNLOADS[name],
            filename=f"{given}-{name}",
            headers={"Content-Security-Policy": "default-src 'none'; sandbox"},
        )


def _words(make: Callable[[], str]) -> str:
    """Return what an example is, from the docstring of its function."""
    return (make.__doc__ or "").partition(":")[0]


async def _nothing(_: Request) -> Response:
    return Response(status_code=204)


def _fragment(visit: Visit, name: str) -> Any:
    """Return a part of the page that the work has rendered."""
    from markupsafe import Markup

    return Markup((visit.folder / name).read_text(encoding="utf-8"))
