-- Which memory lines the model was shown for an answer. Ids only: the words stay in memory, sealed.
CREATE TABLE answer_sources (
    conversation_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    line_ids TEXT NOT NULL, -- separated by spaces, the best first
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (conversation_id, turn_id)
);
