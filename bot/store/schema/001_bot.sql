-- The bot's tables, in the SQL that SQLite and PostgreSQL share. Times are seconds since the epoch,
-- UTC. Flags are 0 or 1. Text of people stands in messages, drafts, outbox and inbox only.

CREATE TABLE meta (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- A claim is one statement on this table; see leases.py. Rows stay, so that tokens keep growing.
CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    token BIGINT NOT NULL,
    holder TEXT NOT NULL,
    expires_at DOUBLE PRECISION NOT NULL
);

-- Every update that was accepted, under its update_id, committed before Telegram is told so.
CREATE TABLE inbox (
    update_id BIGINT PRIMARY KEY,
    received_at DOUBLE PRECISION NOT NULL,
    outcome TEXT NOT NULL, -- taken | ignored | parked
    raw TEXT NOT NULL DEFAULT '' -- parked only: the update that could not be handled
);

CREATE TABLE conversations (
    id TEXT PRIMARY KEY,
    chat_id BIGINT NOT NULL UNIQUE,
    user_name TEXT NOT NULL,
    language TEXT NOT NULL,
    state TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    version BIGINT NOT NULL,
    covered BIGINT NOT NULL,
    turn_from BIGINT NOT NULL, -- 0: no turn
    turn_to BIGINT NOT NULL,
    turn_offers BIGINT NOT NULL,
    flight_from BIGINT NOT NULL, -- 0: nothing in flight
    flight_to BIGINT NOT NULL,
    restarts BIGINT NOT NULL,
    waiting_since DOUBLE PRECISION NOT NULL,
    holder_id BIGINT NOT NULL, -- 0: no holder
    holder_name TEXT NOT NULL,
    holder_since DOUBLE PRECISION NOT NULL,
    lease_until DOUBLE PRECISION NOT NULL,
    requested_at DOUBLE PRECISION NOT NULL,
    reminders BIGINT NOT NULL,
    told_at DOUBLE PRECISION NOT NULL,
    context_from BIGINT NOT NULL,
    model_failures BIGINT NOT NULL,
    blocked BIGINT NOT NULL,
    memory_turn BIGINT NOT NULL DEFAULT 0 -- acceptances of memory lines so far
);
CREATE INDEX conversations_waiting ON conversations (state, requested_at);

CREATE TABLE messages (
    conversation_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    author TEXT NOT NULL, -- user | ai | human
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    detail TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    version BIGINT NOT NULL, -- of a user message; of the newest covered one for the AI's
    turn_id TEXT NOT NULL,
    chat_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    consented BIGINT NOT NULL,
    visible BIGINT NOT NULL, -- an AI reply counts once it arrived
    covered_by TEXT NOT NULL,
    PRIMARY KEY (conversation_id, seq)
);
CREATE UNIQUE INDEX messages_once ON messages (chat_id, message_id) WHERE author <> 'ai';
CREATE INDEX messages_by_id ON messages (message_id) WHERE author <> 'ai';
CREATE INDEX messages_by_version ON messages (conversation_id, version);

-- Apart from conversations: a typist moves this row, and nothing else writes it.
CREATE TABLE debounces (
    conversation_id TEXT PRIMARY KEY,
    first_at DOUBLE PRECISION NOT NULL,
    fire_at DOUBLE PRECISION NOT NULL
);
CREATE INDEX debounces_due ON debounces (fire_at);

CREATE TABLE timers (
    conversation_id TEXT NOT NULL,
    timer TEXT NOT NULL,
    due_at DOUBLE PRECISION NOT NULL,
    epoch BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, timer)
);
CREATE INDEX timers_due ON timers (due_at);

-- Work that follows from a committed state and is done afterwards; a restart repeats it.
CREATE TABLE effects (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    kind TEXT NOT NULL, -- generate | moderate: under the session lease; command: on its own
    epoch BIGINT NOT NULL,
    turn_id TEXT NOT NULL,
    payload TEXT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    claimed_until DOUBLE PRECISION NOT NULL DEFAULT 0
);
CREATE INDEX effects_of ON effects (conversation_id, kind);

CREATE TABLE drafts (
    conversation_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    text TEXT NOT NULL,
    lines TEXT NOT NULL, -- memory lines proposed with it, JSON
    created_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (conversation_id, turn_id)
);

CREATE TABLE chats (
    chat_id BIGINT PRIMARY KEY,
    outbox_seq BIGINT NOT NULL,
    last_message_id BIGINT NOT NULL -- the highest id known in this chat
);

CREATE TABLE outbox (
    id TEXT PRIMARY KEY, -- the client message id
    conversation_id TEXT NOT NULL,
    chat_id BIGINT NOT NULL,
    seq BIGINT NOT NULL, -- strict order within the chat
    author TEXT NOT NULL, -- ai | human | system | relay
    epoch BIGINT NOT NULL,
    turn_id TEXT NOT NULL,
    payload TEXT NOT NULL, -- JSON
    status TEXT NOT NULL, -- pending | sending | sent | failed | unknown | dropped | unresolved
    attempts BIGINT NOT NULL,
    probes BIGINT NOT NULL,
    not_before DOUBLE PRECISION NOT NULL,
    claimed_until DOUBLE PRECISION NOT NULL,
    claim BIGINT NOT NULL, -- grows with each claim: the fencing token of this row
    low_id BIGINT NOT NULL, -- the highest id known in the chat when it began to leave
    message_id BIGINT NOT NULL,
    created_at DOUBLE PRECISION NOT NULL,
    settled_at DOUBLE PRECISION NOT NULL
);
CREATE INDEX outbox_open ON outbox (chat_id, seq)
    WHERE status IN ('pending', 'sending', 'unknown');
CREATE INDEX outbox_by_turn ON outbox (conversation_id, turn_id);
CREATE INDEX outbox_by_id ON outbox (message_id) WHERE message_id > 0;

CREATE TABLE status_lines (
    chat_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    posted_at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (chat_id, message_id)
);

CREATE TABLE strangers (
    chat_id BIGINT PRIMARY KEY,
    told_at DOUBLE PRECISION NOT NULL
);

-- Ids and states only, never text.
CREATE TABLE journal (
    conversation_id TEXT NOT NULL,
    seq BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    actor TEXT NOT NULL,
    event TEXT NOT NULL,
    outcome TEXT NOT NULL,
    state_before TEXT NOT NULL,
    state_after TEXT NOT NULL,
    epoch BIGINT NOT NULL,
    version BIGINT NOT NULL,
    turn_id TEXT NOT NULL,
    client_message_id TEXT NOT NULL,
    note TEXT NOT NULL,
    PRIMARY KEY (conversation_id, seq)
);

-- What one turn cost.
CREATE TABLE usage (
    conversation_id TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    model_calls BIGINT NOT NULL,
    prompt_tokens BIGINT NOT NULL,
    cached_tokens BIGINT NOT NULL,
    completion_tokens BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, turn_id, at)
);
