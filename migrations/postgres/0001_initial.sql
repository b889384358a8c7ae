-- What a running server compares to know that something changed: 'directory' and 'project:<uid>' of living projects.
CREATE TABLE versions (
    scope   TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    version BIGINT NOT NULL CHECK (version > 0)
);

INSERT INTO versions (scope, version) VALUES ('directory', 1);

-- Deleted projects keep their row, because their records refer to them.
CREATE TABLE projects (
    uid        UUID NOT NULL PRIMARY KEY,
    id         TEXT COLLATE "C" NOT NULL,
    name       TEXT NOT NULL,
    created_at BIGINT NOT NULL,
    deleted_at BIGINT
);

CREATE UNIQUE INDEX projects_living ON projects (id) WHERE deleted_at IS NULL;

-- A token of a user carries the generation it was signed in, and is worth nothing in a later one. `revision` is the
-- version of the directory that last changed the row, here and below.
CREATE TABLE users (
    id               UUID NOT NULL PRIMARY KEY,
    username         TEXT COLLATE "C" NOT NULL UNIQUE,
    display_name     TEXT,
    password_hash    TEXT NOT NULL,
    token_generation BIGINT NOT NULL CHECK (token_generation >= 0),
    system_admin     BOOLEAN NOT NULL,
    disabled_at      BIGINT,
    created_at       BIGINT NOT NULL,
    revision         BIGINT NOT NULL
);

-- What a principal holds in a project. `group_names` is a JSON array of {"group", "expires_at"?}. A user or key must exist
-- when the row is written, and takes the row along when it is deleted; a subject of an external issuer has no row elsewhere.
CREATE TABLE grants (
    project_uid    UUID NOT NULL REFERENCES projects (uid),
    principal_kind TEXT COLLATE "C" NOT NULL CHECK (principal_kind IN ('user', 'service_key', 'external')),
    principal_id   TEXT COLLATE "C" NOT NULL,
    role           TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'auditor', 'viewer', 'agent')),
    group_names    TEXT NOT NULL,
    expires_at     BIGINT,
    granted_by     TEXT NOT NULL,
    granted_at     BIGINT NOT NULL,
    revision       BIGINT NOT NULL,
    PRIMARY KEY (project_uid, principal_kind, principal_id)
);

CREATE INDEX grants_of_principal ON grants (principal_kind, principal_id);

-- `previous_*` is the secret before the last rotation, which works until `previous_until`.
CREATE TABLE service_keys (
    id              UUID NOT NULL PRIMARY KEY,
    project_uid     UUID NOT NULL REFERENCES projects (uid),
    name            TEXT NOT NULL,
    prefix          TEXT COLLATE "C" NOT NULL UNIQUE,
    digest          BYTEA NOT NULL CHECK (length(digest) = 32),
    previous_prefix TEXT COLLATE "C" UNIQUE,
    previous_digest BYTEA CHECK (length(previous_digest) = 32),
    previous_until  BIGINT,
    created_at      BIGINT NOT NULL,
    created_by      TEXT NOT NULL,
    rotated_at      BIGINT,
    expires_at      BIGINT,
    revoked_at      BIGINT,
    revision        BIGINT NOT NULL,
    CONSTRAINT service_keys_previous CHECK (
        (previous_prefix IS NULL) = (previous_digest IS NULL) AND (previous_prefix IS NULL) = (previous_until IS NULL))
);

CREATE TABLE signing_keys (
    kid        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    pkcs8      BYTEA NOT NULL,
    created_at BIGINT NOT NULL,
    retired_at BIGINT
);

CREATE TABLE revoked_tokens (
    jti        TEXT COLLATE "C" NOT NULL PRIMARY KEY,
    expires_at BIGINT NOT NULL
);

-- The living tools at their current revision.
CREATE TABLE tools (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    name        TEXT COLLATE "C" NOT NULL,
    revision    BIGINT NOT NULL CHECK (revision > 0),
    definition  TEXT NOT NULL,
    updated_at  BIGINT NOT NULL,
    updated_by  TEXT NOT NULL,
    PRIMARY KEY (project_uid, name)
);

-- Every revision there ever was; one without a definition deleted the tool.
CREATE TABLE tool_revisions (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    name        TEXT COLLATE "C" NOT NULL,
    revision    BIGINT NOT NULL CHECK (revision > 0),
    author      TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    note        TEXT,
    definition  TEXT,
    PRIMARY KEY (project_uid, name, revision)
);

CREATE TABLE tool_services (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    id          TEXT COLLATE "C" NOT NULL,
    revision    BIGINT NOT NULL CHECK (revision > 0),
    definition  TEXT NOT NULL,
    PRIMARY KEY (project_uid, id)
);

-- The record is made of chains, one per run of a server. The number of a chain, shifted left by 40 bits, plus an entry's
-- position in it is the entry's `seq`, so that whatever is added goes to the end of its table.
-- `head_*` is the last entry as of the last heartbeat, `settled_position` the entry before which no call is open, and
-- `first_*` the first entry that is kept, with the hash of the one before it.
CREATE TABLE chains (
    number           BIGINT NOT NULL PRIMARY KEY CHECK (number > 0 AND number < 8388608),
    instance         UUID   NOT NULL UNIQUE,
    started_at       BIGINT NOT NULL,
    heartbeat_at     BIGINT NOT NULL,
    ended_at         BIGINT,
    head_position    BIGINT NOT NULL,
    head_hash        BYTEA  NOT NULL CHECK (length(head_hash) = 32),
    settled_position BIGINT NOT NULL,
    first_position   BIGINT NOT NULL,
    first_hash       BYTEA  NOT NULL CHECK (length(first_hash) = 32)
);

-- One row per decision, with what was known when it was made. Rows are added and never changed.
-- There is no foreign key to projects and there are no checks: the row must cost as little as possible, it outlives the
-- project, and contradictions are refused before they get here.
CREATE TABLE records (
    seq              BIGINT NOT NULL PRIMARY KEY,
    project_uid      UUID   NOT NULL,
    id               UUID   NOT NULL,
    at               BIGINT NOT NULL,
    action           TEXT   NOT NULL,
    outcome          TEXT   NOT NULL,
    code             TEXT,
    principal_kind   TEXT   NOT NULL,
    principal_id     TEXT   NOT NULL,
    tool             TEXT,
    revision         BIGINT,
    snapshot_version BIGINT NOT NULL,
    state_before     TEXT   NOT NULL,
    session_id       UUID,
    duration_ms      BIGINT,
    detail           TEXT   NOT NULL,
    hash             BYTEA  NOT NULL
);

CREATE UNIQUE INDEX records_id ON records (project_uid, id);

-- How an admitted call ended; until then it has no row here.
CREATE TABLE completions (
    record_seq     BIGINT  NOT NULL PRIMARY KEY,
    seq            BIGINT  NOT NULL,
    outcome        TEXT    NOT NULL,
    code           TEXT,
    state_after    TEXT    NOT NULL,
    state_conflict BOOLEAN NOT NULL,
    duration_ms    BIGINT,
    closed_at      BIGINT,
    usage          TEXT,
    hash           BYTEA   NOT NULL
);

-- Written by another server than the one that opened the record: the only ones that are not near their record.
CREATE INDEX completions_closed ON completions (seq) WHERE closed_at IS NOT NULL;

-- Claims on idempotency keys, and the answers to give again.
CREATE TABLE idempotency_claims (
    project_uid  UUID NOT NULL,
    principal_id TEXT COLLATE "C" NOT NULL,
    request_key  TEXT COLLATE "C" NOT NULL,
    fingerprint  BYTEA NOT NULL CHECK (length(fingerprint) = 32),
    call_id      UUID NOT NULL,
    instance     UUID,
    expires_at   BIGINT NOT NULL,
    status       BIGINT CHECK (status BETWEEN 100 AND 599),
    body         TEXT,
    PRIMARY KEY (project_uid, principal_id, request_key),
    CONSTRAINT claims_settled CHECK ((status IS NULL) = (body IS NULL))
);

CREATE INDEX claims_unsettled ON idempotency_claims (call_id) WHERE status IS NULL;
CREATE INDEX claims_expiry ON idempotency_claims (expires_at);
