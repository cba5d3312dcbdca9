"""The baseline: a bot as tutorials write it. One handler, one model call, one send; no memory,
no storage, no merging, no moderation. TELEGRAM_BOT_TOKEN, TELEGRAM_API_URL and MODEL_BASE_URL
are read from the environment, as Dabir's are.
"""

import os

from openai import AsyncOpenAI
from telegram import Update
from telegram.ext import Application, ContextTypes, MessageHandler, filters

API = os.environ["TELEGRAM_API_URL"]
MODEL = AsyncOpenAI(base_url=os.environ["MODEL_BASE_URL"], api_key="none")


async def answer(update: Update, context: ContextTypes.DEFAULT_TYPE) -> None:
    assert update.message is not None
    completion = await MODEL.chat.completions.create(
        model="bench",
        messages=[
            {"role": "system", "content": "You are a helpful assistant."},
            {"role": "user", "content": update.message.text or ""},
        ],
    )
    await update.message.reply_text(completion.choices[0].message.content or "")


def main() -> None:
    builder = Application.builder().token(os.environ["TELEGRAM_BOT_TOKEN"])
    app = builder.base_url(f"{API}/bot").concurrent_updates(True).build()
    app.add_handler(MessageHandler(filters.TEXT, answer))
    app.run_polling()


if __name__ == "__main__":
    main()
