"""The baseline for throughput: repeats what it hears, without a model or a disk."""

import os

from telegram import Update
from telegram.ext import Application, ContextTypes, MessageHandler, filters


async def echo(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
    assert update.message is not None
    await update.message.reply_text(update.message.text or "")


def main() -> None:
    builder = Application.builder().token(os.environ["TELEGRAM_BOT_TOKEN"])
    builder = builder.base_url(f"{os.environ['TELEGRAM_API_URL']}/bot").concurrent_updates(True)
    app = builder.connection_pool_size(256).pool_timeout(60).build()
    app.add_handler(MessageHandler(filters.TEXT, echo))
    app.run_polling()


if __name__ == "__main__":
    main()
