-- Accounts of persons at other services, whose providers are one more document of a project.
CREATE TABLE project_documents_with_providers (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    kind        TEXT    NOT NULL CHECK (kind IN ('settings', 'limits', 'egress', 'mcp_servers', 'account_providers')),
    revision    INTEGER NOT NULL CHECK (revision > 0),
    content     TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO project_documents_with_providers SELECT project_uid, kind, revision, content, updated_at, updated_by FROM project_documents;
DROP TABLE project_documents;
ALTER TABLE project_documents_with_providers RENAME TO project_documents;

-- `sealed` has the credential. `version` counts the credentials of the account; the server that may refresh one holds it until
-- `refreshing_until`.
CREATE TABLE accounts (
    id               BLOB    NOT NULL PRIMARY KEY,
    project_uid      BLOB    NOT NULL REFERENCES projects (uid),
    provider         TEXT    NOT NULL,
    user_id          BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label            TEXT,
    status           TEXT    NOT NULL CHECK (status IN ('connected', 'expired')),
    key_id           TEXT    NOT NULL,
    sealed           BLOB    NOT NULL,
    version          INTEGER NOT NULL CHECK (version > 0),
    refreshing_until INTEGER,
    connected_at     INTEGER NOT NULL,
    refreshed_at     INTEGER
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX accounts_by_person ON accounts (project_uid, user_id, provider);
CREATE INDEX accounts_of_user ON accounts (user_id);

-- Persons who are on their way to connect an account, by SHA-256 of the `state` that they come back with.
CREATE TABLE account_flows (
    digest      BLOB    NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    provider    TEXT    NOT NULL,
    user_id     BLOB    NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key_id      TEXT    NOT NULL,
    sealed      BLOB    NOT NULL,
    expires_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX account_flows_of_user ON account_flows (user_id);
CREATE INDEX account_flows_by_end ON account_flows (expires_at);
