-- The operators' desk: where people see conversations, what was passed to and fro, who did what.

-- A message goes to the topic of a conversation; '' for none (a private chat, the General topic).
ALTER TABLE outbox ADD COLUMN topic TEXT NOT NULL DEFAULT '';

-- What relaying needs to know of a message.
ALTER TABLE messages ADD COLUMN reply_to BIGINT NOT NULL DEFAULT 0; -- message_id in the same chat
ALTER TABLE messages ADD COLUMN media_group TEXT NOT NULL DEFAULT '';
ALTER TABLE messages ADD COLUMN entities TEXT NOT NULL DEFAULT ''; -- JSON, as in an outbox payload

-- One topic of the operators' group a conversation.
CREATE TABLE topics (
    conversation_id TEXT PRIMARY KEY,
    chat_id BIGINT NOT NULL, -- the operators' group
    thread_id BIGINT NOT NULL, -- 0: not opened yet
    generation BIGINT NOT NULL, -- grows with each request that opens it: of many, one opens
    opening_since DOUBLE PRECISION NOT NULL, -- 0: nobody asked Telegram to open it, or we know
    opening_low BIGINT NOT NULL, -- the highest id known in the group when it was asked
    name TEXT NOT NULL, -- as last given to Telegram
    card_id BIGINT NOT NULL, -- message id of the pinned card; 0: none yet
    card_shown TEXT NOT NULL, -- digest of what the card says
    card_epoch BIGINT NOT NULL, -- how many cards were sent: names the next one's outbox row
    card_due DOUBLE PRECISION NOT NULL, -- 0: up to date; else when to bring it up to date
    silent BIGINT NOT NULL -- muted: what arrives makes no sound
);
CREATE UNIQUE INDEX topics_thread ON topics (chat_id, thread_id) WHERE thread_id > 0;
CREATE INDEX topics_card_due ON topics (card_due) WHERE card_due > 0;

-- Which message of ours stands for which original, in another chat or in the same one.
CREATE TABLE copies (
    chat_id BIGINT NOT NULL,
    message_id BIGINT NOT NULL,
    of_chat_id BIGINT NOT NULL,
    of_message_id BIGINT NOT NULL,
    conversation_id TEXT NOT NULL,
    PRIMARY KEY (chat_id, message_id)
);
CREATE INDEX copies_of ON copies (of_chat_id, of_message_id);

-- Who may work at the desk. The owner is not here; see meta.
CREATE TABLE staff (
    user_id BIGINT PRIMARY KEY,
    name TEXT NOT NULL,
    username TEXT NOT NULL, -- without @; lower case
    role TEXT NOT NULL, -- manager | operator | none
    source TEXT NOT NULL, -- given (by the owner) | setting | admin (of the group)
    updated_at DOUBLE PRECISION NOT NULL
);

-- A conversation that its holder offers to a colleague.
CREATE TABLE offers (
    conversation_id TEXT PRIMARY KEY,
    epoch BIGINT NOT NULL,
    from_id BIGINT NOT NULL,
    to_id BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);

-- What operators did: who and when, never what was said.
CREATE TABLE operator_actions (
    id TEXT PRIMARY KEY, -- of the update it came from, and the action
    at DOUBLE PRECISION NOT NULL,
    operator_id BIGINT NOT NULL,
    operator_name TEXT NOT NULL,
    action TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    outcome TEXT NOT NULL, -- done | refused | …
    note TEXT NOT NULL -- ids and states
);
CREATE INDEX operator_actions_of ON operator_actions (conversation_id, at);

-- Suggestions for the operator: a draft of the AI, or a translation of the operator's words.
CREATE TABLE suggestions (
    id TEXT PRIMARY KEY,
    conversation_id TEXT NOT NULL,
    kind TEXT NOT NULL, -- draft | translation
    epoch BIGINT NOT NULL,
    operator_id BIGINT NOT NULL, -- who asked for it
    source TEXT NOT NULL, -- the words it was made from; '' for a draft
    text TEXT NOT NULL,
    chat_id BIGINT NOT NULL, -- where it is shown
    message_id BIGINT NOT NULL, -- 0: not shown yet
    status TEXT NOT NULL, -- open | sent | discarded | stale
    at DOUBLE PRECISION NOT NULL
);
CREATE INDEX suggestions_of ON suggestions (conversation_id, status);
CREATE INDEX suggestions_shown ON suggestions (chat_id, message_id);

-- Derived views of messages; the source stays as it is.
CREATE TABLE translations (
    chat_id BIGINT NOT NULL, -- of the source
    message_id BIGINT NOT NULL,
    language TEXT NOT NULL,
    conversation_id TEXT NOT NULL,
    source_language TEXT NOT NULL,
    engine TEXT NOT NULL,
    text TEXT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (chat_id, message_id, language)
);

CREATE TABLE bans (
    chat_id BIGINT PRIMARY KEY,
    at DOUBLE PRECISION NOT NULL,
    by_id BIGINT NOT NULL
);

CREATE TABLE ratings (
    conversation_id TEXT NOT NULL,
    epoch BIGINT NOT NULL, -- of the human stretch
    operator_id BIGINT NOT NULL,
    stars BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (conversation_id, epoch)
);

CREATE TABLE snippets (
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL,
    by_id BIGINT NOT NULL,
    at DOUBLE PRECISION NOT NULL
);
