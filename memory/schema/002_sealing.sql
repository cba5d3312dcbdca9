-- What opens the memory. The secret itself is never here.
CREATE TABLE memory_vault (
    name TEXT PRIMARY KEY, -- 'naming': the secret that names namespaces, sealed by MEMORY_SECRET
    salt TEXT NOT NULL,
    wrapped TEXT NOT NULL
);

-- One key a namespace, sealed by MEMORY_SECRET. A destroyed key leaves its row without it.
CREATE TABLE memory_keys (
    namespace TEXT PRIMARY KEY, -- as its owner names it
    stored_as TEXT NOT NULL UNIQUE, -- as the store knows it, another name after each destruction
    takes_plain BIGINT NOT NULL, -- 1: lines from before sealing are believed as well
    wrapped TEXT NOT NULL, -- '': destroyed
    made_at DOUBLE PRECISION NOT NULL
);
