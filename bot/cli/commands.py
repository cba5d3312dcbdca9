"""The subcommands of `dabir` and their help. Each imports what it needs when it is called."""

from collections.abc import Sequence
from typing import Annotated

import typer

from bot import logs
from bot.settings import Settings, read

app = typer.Typer(
    name="dabir",
    help="A self-hosted Telegram assistant. Without a command: run the bot.",
    add_completion=False,
    pretty_exceptions_enable=False,
    no_args_is_help=False,
)


def run(words: Sequence[str]) -> int:
    """Run one subcommand; return its exit code. Errors other than usage errors pass through."""
    try:
        app(args=list(words), prog_name="dabir")
    except SystemExit as stopped:
        return stopped.code if isinstance(stopped.code, int) else 1
    return 0


def show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"dabir {version('dabir')}")
        raise typer.Exit


@app.callback()
def dabir(
    version: Annotated[
        bool,
        typer.Option("--version", callback=show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """A self-hosted Telegram assistant. Without a command: run the bot."""


@app.command()
def setup() -> None:
    """Ask for the bot token and the model, check them, and write `.env`."""
    from bot.cli import setup as wizard

    raise typer.Exit(wizard.run())


@app.command()
def doctor() -> None:
    """Check token, model, database and surroundings; say what to do. Disturbs no running bot."""
    from bot.cli import doctor as checks

    raise typer.Exit(checks.run())


@app.command()
def demo(
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in the browser.")
    ] = True,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Serve the page at this port; by default any free."),
    ] = None,
    terminal: Annotated[
        bool, typer.Option("--terminal", help="Chat in this terminal instead.")
    ] = False,
) -> None:
    """Try the bot in the browser: no account, token or key needed; nothing leaves this machine."""
    from bot.lab import demo as show

    raise typer.Exit(show.run(browser=browser, port=port, terminal=terminal))


@app.command()
def drill(
    only: Annotated[
        list[str] | None, typer.Option(help="Only this drill, by number or name; repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="For machines.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="Name the drills and end.")] = False,
    checklist: Annotated[
        bool,
        typer.Option(
            "--checklist", help="The release checklist, and what stands behind each point."
        ),
    ] = False,
    prove: Annotated[
        bool, typer.Option("--prove", help="Break each protection in turn; a drill must notice.")
    ] = False,
    seed: Annotated[int, typer.Option(help="The order in which --prove breaks them.")] = 1,
) -> None:
    """Play failure drills against the real bot, each a pass or a fail. Needs no account."""
    from bot.lab.drills import command

    if listing:
        code = command.show_list()
    elif checklist:
        code = command.show_checklist(as_json=as_json)
    elif prove:
        code = command.prove(seed)
    else:
        code = command.run(only or (), as_json=as_json)
    raise typer.Exit(code)


memory = typer.Typer(help="The lines that are remembered.", no_args_is_help=True)
app.add_typer(memory, name="memory")


@memory.command()
def move(
    source: Annotated[str, typer.Argument(metavar="FROM", help="As MEMORY_URL, or “database”.")],
    target: Annotated[str, typer.Argument(metavar="TO", help="As MEMORY_URL, or “database”.")],
) -> None:
    """Copy all lines to another place and prove it. Begun again, it goes on where it was."""
    settings = _settings()
    from bot.cli import moving

    raise typer.Exit(moving.run(settings, source, target))


# A group's id is negative: it looks like an option and is none.
@app.command(context_settings={"ignore_unknown_options": True})
def timeline(
    chat: Annotated[int, typer.Argument(help="The Telegram chat id of the conversation.")],
) -> None:
    """Print what happened in a conversation, step by step, without its text."""
    settings = _settings()
    from bot.cli import timeline as table

    raise typer.Exit(table.show(settings, chat))


def _settings() -> Settings:
    """The settings for a command that needs no token: what is wrong stops it, missing does not."""
    from bot.errors import Misconfigured

    settings, problems = read()
    if problems:
        raise Misconfigured("\n".join(each.sentence for each in problems))
    logs.configure(settings.log_level, settings.log_format, settings.secrets)
    return settings
