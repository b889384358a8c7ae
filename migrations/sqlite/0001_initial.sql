-- What a running server compares to know that something changed: 'directory' and 'project:<uid>' of living projects.
CREATE TABLE versions (
    scope   TEXT    NOT NULL PRIMARY KEY,
    version INTEGER NOT NULL CHECK (version > 0)
) STRICT, WITHOUT ROWID;

INSERT INTO versions (scope, version) VALUES ('directory', 1);

-- Deleted projects keep their row, because their records refer to them.
CREATE TABLE projects (
    uid        BLOB    NOT NULL PRIMARY KEY,
    id         TEXT    NOT NULL,
    name       TEXT    NOT NULL,
    created_at INTEGER NOT NULL,
    deleted_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX projects_living ON projects (id) WHERE deleted_at IS NULL;

CREATE TABLE users (
    id            BLOB    NOT NULL PRIMARY KEY,
    username      TEXT    NOT NULL UNIQUE,
    password_hash TEXT    NOT NULL,
    system_admin  INTEGER NOT NULL CHECK (system_admin IN (0, 1)),
    created_at    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE grants (
    project_uid BLOB NOT NULL REFERENCES projects (uid),
    user_id     BLOB NOT NULL REFERENCES users (id),
    role        TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'auditor', 'viewer', 'agent')),
    group_names TEXT NOT NULL,
    PRIMARY KEY (project_uid, user_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE service_keys (
    id          BLOB    NOT NULL PRIMARY KEY,
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    name        TEXT    NOT NULL,
    prefix      TEXT    NOT NULL UNIQUE,
    digest      BLOB    NOT NULL CHECK (length(digest) = 32),
    role        TEXT    NOT NULL CHECK (role IN ('owner', 'editor', 'auditor', 'viewer', 'agent')),
    group_names TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    created_by  TEXT    NOT NULL,
    expires_at  INTEGER,
    revoked_at  INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE signing_keys (
    kid        TEXT    NOT NULL PRIMARY KEY,
    pkcs8      BLOB    NOT NULL,
    created_at INTEGER NOT NULL,
    retired_at INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE revoked_tokens (
    jti        TEXT    NOT NULL PRIMARY KEY,
    expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The living tools at their current revision.
CREATE TABLE tools (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    name        TEXT    NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    definition  TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, name)
) STRICT;

-- Every revision there ever was; one without a definition deleted the tool.
CREATE TABLE tool_revisions (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    name        TEXT    NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    author      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    note        TEXT,
    definition  TEXT,
    PRIMARY KEY (project_uid, name, revision)
) STRICT;

CREATE TABLE tool_services (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    id          TEXT    NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    definition  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, id)
) STRICT;

-- Servers, and when each was last known to run.
CREATE TABLE instances (
    id           BLOB    NOT NULL PRIMARY KEY,
    started_at   INTEGER NOT NULL,
    heartbeat_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- One row per decision. Ids are UUIDs of version 7, so new rows go to the end of their project.
-- There is no foreign key to projects: the row must cost as little as possible, and it outlives the project.
CREATE TABLE records (
    project_uid      BLOB    NOT NULL,
    id               BLOB    NOT NULL,
    instance         BLOB    NOT NULL,
    at               INTEGER NOT NULL,
    action           TEXT    NOT NULL CHECK (action IN ('call', 'resolve')),
    outcome          TEXT    NOT NULL,
    code             TEXT,
    principal_kind   TEXT    NOT NULL CHECK (principal_kind IN ('user', 'service_key', 'external')),
    principal_id     TEXT    NOT NULL,
    tool             TEXT,
    revision         INTEGER,
    snapshot_version INTEGER NOT NULL,
    state_before     TEXT    NOT NULL,
    state_after      TEXT,
    duration_ms      INTEGER CHECK (duration_ms >= 0),
    closed_at        INTEGER,
    usage            TEXT,
    detail           TEXT    NOT NULL,
    PRIMARY KEY (project_uid, id),
    -- Only a success moves the state, and nothing half-finished can be stored.
    CONSTRAINT records_outcome CHECK (CASE outcome
        WHEN 'open' THEN
            code IS NULL AND state_after IS NULL AND duration_ms IS NULL AND usage IS NULL AND closed_at IS NULL
        WHEN 'succeeded' THEN
            code IS NULL AND state_after IS NOT NULL AND duration_ms IS NOT NULL AND closed_at IS NULL
        WHEN 'failed' THEN
            code IS NOT NULL AND state_after IS NOT NULL AND state_after = state_before
            AND duration_ms IS NOT NULL AND closed_at IS NULL
        WHEN 'denied' THEN
            code IS NOT NULL AND state_after IS NOT NULL AND state_after = state_before
            AND duration_ms IS NOT NULL AND usage IS NULL AND closed_at IS NULL
        WHEN 'interrupted' THEN
            code IS NOT NULL AND state_after IS NOT NULL AND state_after = state_before
            AND duration_ms IS NULL AND usage IS NULL AND closed_at IS NOT NULL
        ELSE FALSE
    END)
) STRICT, WITHOUT ROWID;

CREATE INDEX records_open ON records (instance) WHERE outcome = 'open';

-- Claims on idempotency keys, and the answers to give again.
CREATE TABLE idempotency_claims (
    project_uid  BLOB    NOT NULL,
    principal_id TEXT    NOT NULL,
    request_key  TEXT    NOT NULL,
    fingerprint  BLOB    NOT NULL CHECK (length(fingerprint) = 32),
    call_id      BLOB    NOT NULL,
    instance     BLOB,
    expires_at   INTEGER NOT NULL,
    status       INTEGER CHECK (status BETWEEN 100 AND 599),
    body         TEXT,
    PRIMARY KEY (project_uid, principal_id, request_key),
    CONSTRAINT claims_settled CHECK ((status IS NULL) = (body IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX claims_unsettled ON idempotency_claims (call_id) WHERE status IS NULL;
CREATE INDEX claims_expiry ON idempotency_claims (expires_at);
