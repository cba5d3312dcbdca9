"""Doctor's checks that ask somebody else: Telegram and the model."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

from bot.cli.findings import Finding, fine, look, wrong
from bot.cli.model_check import check_model
from bot.cli.storage_checks import lock_holder
from bot.cli.telegram_check import BotApi
from bot.errors import Refused, RetryLater
from bot.settings import Settings, on_own_network

MODEL_SECONDS = 9.0
CLOCK_TOLERANCE_SECONDS = 30.0
MANY_WAITING = 100
NO_TOKEN = wrong("not checked, because there is no usable TELEGRAM_BOT_TOKEN")


async def token(settings: Settings) -> Finding:
    """Does Telegram know the token?"""
    if not settings.telegram_bot_token:
        return NO_TOKEN
    try:
        me = (await _bot_api(settings).get_me()).result
    except Refused as error:
        return wrong(f"{error}; copy it again from @BotFather to TELEGRAM_BOT_TOKEN")
    except RetryLater as error:
        return wrong(f"{error}; check the network, TELEGRAM_API_URL and TELEGRAM_PROXY")
    return fine(f"Telegram knows it: @{me.get('username', '?')}")


async def updates(settings: Settings) -> Finding:
    """Does a webhook stand in the way of polling, or not reach us?

    Another poller cannot be seen from here without ending its request; the bot's own log
    tells of one.
    """
    if not settings.telegram_bot_token:
        return NO_TOKEN
    info = (await _bot_api(settings).get_webhook_info()).result
    url, waiting = str(info.get("url", "")), int(info.get("pending_update_count", 0))
    running = lock_holder(settings.sqlite_path) is not None
    if url != settings.telegram_webhook_url:
        return _other_webhook(url, running=running)
    if url and info.get("last_error_message"):
        return look(f"Telegram could not deliver to the webhook: {info['last_error_message']}")
    if running and waiting >= MANY_WAITING:
        return look(f"{waiting} updates wait although a bot runs; look at its log")
    return fine(f"by {'webhook' if url else 'polling'}, {waiting} waiting")


def _other_webhook(url: str, *, running: bool) -> Finding:
    if not url:
        return look("TELEGRAM_WEBHOOK_URL is not registered yet; the bot does it when it starts")
    host = urlsplit(url).hostname
    if running:
        return wrong(f"a webhook at {host} takes them (409 for polling); restart the bot")
    return look(
        f"a webhook at {host} takes them until the bot starts; is another program using it?"
    )


async def model(settings: Settings) -> Finding:
    """Does one tiny call work?"""
    key = settings.model_api_key.get_secret_value()
    if not key and not on_own_network(settings.model_base_url):
        return wrong("not checked, because there is no MODEL_API_KEY")
    problem = await check_model(
        settings.model_base_url, key, settings.model_name, timeout_seconds=MODEL_SECONDS
    )
    where = urlsplit(settings.model_base_url).netloc.rpartition("@")[2]
    return wrong(problem) if problem else fine(f"{settings.model_name} at {where} answers")


async def clock(settings: Settings) -> Finding:
    """Does this machine's clock agree with Telegram's?"""
    if not settings.telegram_bot_token:
        return NO_TOKEN
    there = (await _bot_api(settings).get_me()).server_time
    if there is None:
        return look("Telegram did not tell the time")
    return judge_clock(here=datetime.now(UTC), there=there)


def judge_clock(*, here: datetime, there: datetime) -> Finding:
    ahead = (here - there).total_seconds()
    if abs(ahead) <= CLOCK_TOLERANCE_SECONDS:
        return fine("agrees with Telegram's")
    direction = "ahead" if ahead > 0 else "behind"
    return look(f"{abs(ahead):.0f} seconds {direction}; switch time synchronisation (NTP) on")


def _bot_api(settings: Settings) -> BotApi:
    return BotApi(
        settings.telegram_api_url,
        settings.telegram_bot_token.get_secret_value(),
        settings.telegram_proxy.get_secret_value(),
    )
