-- Lines of memory. Append-only: no statement of this program changes or removes a row.
CREATE TABLE memory_lines (
    namespace TEXT NOT NULL,
    line_id TEXT NOT NULL,
    line TEXT NOT NULL,
    PRIMARY KEY (namespace, line_id)
);

-- Lines that no read of the backend has shown yet. A row goes when one has.
CREATE TABLE memory_outbox (
    namespace TEXT NOT NULL,
    line_id TEXT NOT NULL,
    line TEXT NOT NULL,
    state TEXT NOT NULL,
    accepted_at DOUBLE PRECISION NOT NULL,
    due_at DOUBLE PRECISION NOT NULL,
    uploaded_at DOUBLE PRECISION NOT NULL,
    uploads BIGINT NOT NULL,
    checks BIGINT NOT NULL,
    PRIMARY KEY (namespace, line_id)
);

CREATE INDEX memory_outbox_due ON memory_outbox (due_at);

-- The places (turn, ordinal) that a read of the backend has shown, 62 ordinals to a page as the
-- bits of one number. What was shown once must be shown again, so a short list gives itself away.
CREATE TABLE memory_proofs (
    namespace TEXT NOT NULL,
    turn BIGINT NOT NULL,
    page BIGINT NOT NULL,
    ordinals BIGINT NOT NULL,
    PRIMARY KEY (namespace, turn, page)
);
