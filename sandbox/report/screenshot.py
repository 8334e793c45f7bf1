"""`python -m sandbox.report.screenshot`: the README's picture, of what `make demo` wrote last."""

import sys

from sandbox.demo.report import FOLDER
from sandbox.deployment import PROJECT
from sandbox.report.browser import browser, installed

PICTURE = PROJECT / "docs" / "report.png"
_SIZE = {"width": 1180, "height": 1080}


def main() -> None:
    page, executable = FOLDER / "report.html", installed()
    if not page.exists():
        sys.exit("screenshot: there is no report yet; `make demo` writes one")
    if executable is None:
        sys.exit("screenshot: no Chromium found; `apt-get install chromium` installs one")
    with browser(executable, viewport=_SIZE, color_scheme="light", reduced_motion="reduce") as context:
        tab = context.new_page()
        tab.goto(page.as_uri())
        tab.screenshot(path=PICTURE)
    print(PICTURE.relative_to(PROJECT))


if __name__ == "__main__":
    main()
