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

-- A token of a user carries the generation it was signed in, and is worth nothing in a later one. `revision` is the
-- version of the directory that last changed the row, here and below.
CREATE TABLE users (
    id               BLOB    NOT NULL PRIMARY KEY,
    username         TEXT    NOT NULL UNIQUE,
    display_name     TEXT,
    password_hash    TEXT    NOT NULL,
    token_generation INTEGER NOT NULL CHECK (token_generation >= 0),
    system_admin     INTEGER NOT NULL CHECK (system_admin IN (0, 1)),
    disabled_at      INTEGER,
    created_at       INTEGER NOT NULL,
    revision         INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What a principal holds in a project. `group_names` is a JSON array of {"group", "expires_at"?}. A user or key must exist
-- when the row is written, and takes the row along when it is deleted; a subject of an external issuer has no row elsewhere.
CREATE TABLE grants (
    project_uid    BLOB    NOT NULL REFERENCES projects (uid),
    principal_kind TEXT    NOT NULL CHECK (principal_kind IN ('user', 'service_key', 'external')),
    principal_id   TEXT    NOT NULL,
    role           TEXT    NOT NULL CHECK (role IN ('owner', 'editor', 'auditor', 'viewer', 'agent')),
    group_names    TEXT    NOT NULL,
    expires_at     INTEGER,
    granted_by     TEXT    NOT NULL,
    granted_at     INTEGER NOT NULL,
    revision       INTEGER NOT NULL,
    PRIMARY KEY (project_uid, principal_kind, principal_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX grants_of_principal ON grants (principal_kind, principal_id);

-- `previous_*` is the secret before the last rotation, which works until `previous_until`.
CREATE TABLE service_keys (
    id              BLOB    NOT NULL PRIMARY KEY,
    project_uid     BLOB    NOT NULL REFERENCES projects (uid),
    name            TEXT    NOT NULL,
    prefix          TEXT    NOT NULL UNIQUE,
    digest          BLOB    NOT NULL CHECK (length(digest) = 32),
    previous_prefix TEXT    UNIQUE,
    previous_digest BLOB    CHECK (length(previous_digest) = 32),
    previous_until  INTEGER,
    created_at      INTEGER NOT NULL,
    created_by      TEXT    NOT NULL,
    rotated_at      INTEGER,
    expires_at      INTEGER,
    revoked_at      INTEGER,
    revision        INTEGER NOT NULL,
    CONSTRAINT service_keys_previous CHECK (
        (previous_prefix IS NULL) = (previous_digest IS NULL) AND (previous_prefix IS NULL) = (previous_until IS NULL))
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

-- The record is made of chains, one per run of a server. The number of a chain, shifted left by 40 bits, plus an entry's
-- position in it is the entry's `seq`, so that whatever is added goes to the end of its table.
-- `head_*` is the last entry as of the last heartbeat, `settled_position` the entry before which no call is open, and
-- `first_*` the first entry that is kept, with the hash of the one before it.
CREATE TABLE chains (
    number           INTEGER NOT NULL PRIMARY KEY CHECK (number > 0 AND number < 8388608),
    instance         BLOB    NOT NULL UNIQUE,
    started_at       INTEGER NOT NULL,
    heartbeat_at     INTEGER NOT NULL,
    ended_at         INTEGER,
    head_position    INTEGER NOT NULL,
    head_hash        BLOB    NOT NULL CHECK (length(head_hash) = 32),
    settled_position INTEGER NOT NULL,
    first_position   INTEGER NOT NULL,
    first_hash       BLOB    NOT NULL CHECK (length(first_hash) = 32)
) STRICT;

-- One row per decision, with what was known when it was made. Rows are added and never changed.
-- There is no foreign key to projects and there are no checks: the row must cost as little as possible, it outlives the
-- project, and contradictions are refused before they get here.
CREATE TABLE records (
    seq              INTEGER NOT NULL PRIMARY KEY,
    project_uid      BLOB    NOT NULL,
    id               BLOB    NOT NULL,
    at               INTEGER NOT NULL,
    action           TEXT    NOT NULL,
    outcome          TEXT    NOT NULL,
    code             TEXT,
    principal_kind   TEXT    NOT NULL,
    principal_id     TEXT    NOT NULL,
    tool             TEXT,
    revision         INTEGER,
    snapshot_version INTEGER NOT NULL,
    state_before     TEXT    NOT NULL,
    session_id       BLOB,
    duration_ms      INTEGER,
    detail           TEXT    NOT NULL,
    hash             BLOB    NOT NULL
) STRICT;

CREATE UNIQUE INDEX records_id ON records (project_uid, id);

-- How an admitted call ended; until then it has no row here.
CREATE TABLE completions (
    record_seq     INTEGER NOT NULL PRIMARY KEY,
    seq            INTEGER NOT NULL,
    outcome        TEXT    NOT NULL,
    code           TEXT,
    state_after    TEXT    NOT NULL,
    state_conflict INTEGER NOT NULL,
    duration_ms    INTEGER,
    closed_at      INTEGER,
    usage          TEXT,
    hash           BLOB    NOT NULL
) STRICT;

-- Written by another server than the one that opened the record: the only ones that are not near their record.
CREATE INDEX completions_closed ON completions (seq) WHERE closed_at IS NOT NULL;

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
