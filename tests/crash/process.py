"""The bot as a process of its own; it lives in the lab, whose drills need it as well."""

from bot.lab.process import CLEAN, STOP_SECONDS, BotProcess

__all__ = ["CLEAN", "STOP_SECONDS", "BotProcess"]
