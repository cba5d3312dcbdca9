"""One tiny call to the model, for setup and doctor, and what to do about each failure."""

from bot.errors import ModelFailed, ModelFailure

ADVICE = {
    ModelFailure.WRONG_KEY: "the endpoint refuses the key; check MODEL_API_KEY",
    ModelFailure.UNKNOWN_MODEL: "the endpoint does not know the model; check MODEL_NAME",
    ModelFailure.NO_BALANCE: "the account has no balance; top it up at the provider",
    ModelFailure.RATE_LIMITED: "the endpoint wants fewer requests; try again in a minute",
    ModelFailure.CONTEXT_TOO_LONG: "the model's context is tiny; choose another MODEL_NAME",
    ModelFailure.CONTENT_FILTER: "the provider's filter refused a greeting; choose another model",
    ModelFailure.EMPTY_ANSWER: "the model answered nothing; try again or choose another MODEL_NAME",
    ModelFailure.MALFORMED_ARGUMENTS: "the model answers in a broken form; choose another one",
    ModelFailure.CUT_OFF: "the answer was cut off; try again",
    ModelFailure.TIMED_OUT: "the model did not answer in time; check that it is running",
    ModelFailure.UNREACHABLE: "the endpoint cannot be reached; check MODEL_BASE_URL and network",
    ModelFailure.BAD_REPLY: "the endpoint is not OpenAI-compatible; check MODEL_BASE_URL",
}


async def check_model(
    base_url: str, api_key: str, model: str, *, timeout_seconds: float
) -> str | None:
    """Ask the model for one word. Return None, or half a sentence: what is wrong, what to do."""
    from bot.model.client import OpenAICompatibleModel  # takes a second to import

    client = OpenAICompatibleModel(base_url, api_key, model, timeout_seconds=timeout_seconds)
    try:
        await client.check()
    except ModelFailed as error:
        return ADVICE[error.failure]
    finally:
        await client.close()
    return None
