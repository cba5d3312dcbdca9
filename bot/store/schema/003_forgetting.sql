-- Chats that asked to be forgotten: until the question is answered, and until all is destroyed.
CREATE TABLE forgettings (
    conversation_id TEXT PRIMARY KEY,
    token TEXT NOT NULL, -- of the buttons; nobody can guess it
    status TEXT NOT NULL, -- asked | begun | counted | swept
    at DOUBLE PRECISION NOT NULL, -- asked: when; afterwards: when it was confirmed
    stored_as TEXT NOT NULL, -- the namespace in the memory store
    messages BIGINT NOT NULL, -- how many messages lost their text
    lines BIGINT NOT NULL, -- how many memory lines were destroyed
    unreadable BIGINT NOT NULL -- lines that a store keeps as unreadable bytes; -1: it does not say
);

-- Chats that leave no line in memory, since when.
CREATE TABLE temporary_chats (
    conversation_id TEXT PRIMARY KEY,
    since DOUBLE PRECISION NOT NULL
);
