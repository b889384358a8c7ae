-- Accounts of persons at other services, whose providers are one more document of a project.
ALTER TABLE project_documents DROP CONSTRAINT project_documents_kind_check;
ALTER TABLE project_documents ADD CONSTRAINT project_documents_kind_check
    CHECK (kind IN ('settings', 'limits', 'egress', 'mcp_servers', 'account_providers'));

-- `sealed` has the credential. `version` counts the credentials of the account; the server that may refresh one holds it until
-- `refreshing_until`.
CREATE TABLE accounts (
    id               UUID   NOT NULL PRIMARY KEY,
    project_uid      UUID   NOT NULL REFERENCES projects (uid),
    provider         TEXT   COLLATE "C" NOT NULL,
    user_id          UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    label            TEXT,
    status           TEXT   NOT NULL CHECK (status IN ('connected', 'expired')),
    key_id           TEXT   NOT NULL,
    sealed           BYTEA  NOT NULL,
    version          BIGINT NOT NULL CHECK (version > 0),
    refreshing_until BIGINT,
    connected_at     BIGINT NOT NULL,
    refreshed_at     BIGINT
);
CREATE UNIQUE INDEX accounts_by_person ON accounts (project_uid, user_id, provider);
CREATE INDEX accounts_of_user ON accounts (user_id);

-- Persons who are on their way to connect an account, by SHA-256 of the `state` that they come back with.
CREATE TABLE account_flows (
    digest      BYTEA  NOT NULL PRIMARY KEY CHECK (length(digest) = 32),
    project_uid UUID   NOT NULL REFERENCES projects (uid),
    provider    TEXT   NOT NULL,
    user_id     UUID   NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    key_id      TEXT   NOT NULL,
    sealed      BYTEA  NOT NULL,
    expires_at  BIGINT NOT NULL
);
CREATE INDEX account_flows_of_user ON account_flows (user_id);
CREATE INDEX account_flows_by_end ON account_flows (expires_at);
