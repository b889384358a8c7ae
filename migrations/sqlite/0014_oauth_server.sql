-- The server as an OAuth 2.1 authorization server for MCP clients.

-- Clients that registered themselves (RFC 7591). `redirect_uris` is a JSON array. One that no user has let in is forgotten.
CREATE TABLE oauth_clients (
    id            TEXT    NOT NULL PRIMARY KEY,
    name          TEXT    NOT NULL,
    redirect_uris TEXT    NOT NULL,
    created_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_clients_unused ON oauth_clients (created_at) WHERE used_at IS NULL;

-- What a user has let a client do in a project. `group_names` is a JSON array that limits it; without one it may do what the
-- user may. `connected_at` is when the client exchanged its code.
CREATE TABLE connections (
    id               BLOB    NOT NULL PRIMARY KEY,
    project_uid      BLOB    NOT NULL REFERENCES projects (uid),
    user_id          BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    client_id        TEXT    NOT NULL,
    client_name      TEXT    NOT NULL,
    redirect_uri     TEXT    NOT NULL,
    resource         TEXT    NOT NULL,
    group_names      TEXT,
    token_generation INTEGER NOT NULL CHECK (token_generation >= 0),
    created_at       INTEGER NOT NULL,
    expires_at       INTEGER,
    connected_at     INTEGER,
    refreshed_at     INTEGER,
    revision         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX connections_of_user ON connections (user_id);
CREATE INDEX connections_of_project ON connections (project_uid);
CREATE INDEX connections_of_client ON connections (client_id);

-- Authorization codes by SHA-256. One that was used is kept for a while, so that its second use is noticed.
CREATE TABLE oauth_codes (
    digest        BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    connection_id BLOB    NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
    challenge     TEXT    NOT NULL,
    expires_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_codes_of_connection ON oauth_codes (connection_id);

-- Refresh tokens by SHA-256. One that was used works again for a moment, for refreshes in parallel.
CREATE TABLE oauth_refresh_tokens (
    digest        BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    connection_id BLOB    NOT NULL REFERENCES connections (id) ON DELETE CASCADE,
    expires_at    INTEGER NOT NULL,
    used_at       INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_refresh_tokens_of_connection ON oauth_refresh_tokens (connection_id);
