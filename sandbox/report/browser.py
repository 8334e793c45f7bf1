"""A Chromium of this machine that asks nobody for anything: for looking at the report, and for testing it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import BrowserContext, sync_playwright

_NAMES = ("chromium", "chromium-browser", "google-chrome")

_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def installed() -> Path | None:
    """Playwright would download a browser of its own; the distribution's will do."""
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    return Path(found) if found else None


@contextmanager
def browser(executable: Path, **settings: object) -> Iterator[BrowserContext]:
    """With a profile of its own. `settings` are those of Playwright's contexts: size, colours, motion."""
    with TemporaryDirectory(prefix="chromium-") as profile, sync_playwright() as playwright:
        context = playwright.chromium.launch_persistent_context(
            profile,
            executable_path=executable,
            args=list(_FLAGS),
            **settings,  # type: ignore[arg-type]
        )
        try:
            yield context
        finally:
            context.close()
