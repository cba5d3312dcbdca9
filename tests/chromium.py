"""Where the Chromium of this machine is, and how tests start it."""

import shutil

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-default-apps",
    "--disable-sync",
    "--no-first-run",
]


def chromium() -> str | None:
    """The path of a Chromium, None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)
