-- Which conversations are translated, between which languages, and whether the user agreed.
CREATE TABLE interpreting (
    conversation_id TEXT PRIMARY KEY,
    user_language TEXT NOT NULL, -- ISO 639-1
    operator_language TEXT NOT NULL,
    active BIGINT NOT NULL,
    consent TEXT NOT NULL, -- none | asked | given | refused: to have their own words translated
    by_id BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);

-- The message that a suggestion is a translation of, where operators see it; 0: a draft has none.
ALTER TABLE suggestions ADD COLUMN source_id BIGINT NOT NULL DEFAULT 0;
