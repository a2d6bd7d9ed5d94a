"""The version, as defined in the project's settings."""

from functools import cache


@cache
def version() -> str:
    """Return the installed version (cached: looking it up takes as long as a small fit)."""
    from importlib.metadata import PackageNotFoundError
    from importlib.metadata import version as installed

    try:
        return installed("hitsndiffs")
    except PackageNotFoundError:  # run from a source tree that is not installed
        return "unknown"
