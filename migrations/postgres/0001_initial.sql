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

CREATE TABLE users (
    id            UUID NOT NULL PRIMARY KEY,
    username      TEXT COLLATE "C" NOT NULL UNIQUE,
    password_hash TEXT NOT NULL,
    system_admin  BOOLEAN NOT NULL,
    created_at    BIGINT NOT NULL
);

CREATE TABLE grants (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    user_id     UUID NOT NULL REFERENCES users (id),
    role        TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'auditor', 'viewer', 'agent')),
    group_names TEXT NOT NULL,
    PRIMARY KEY (project_uid, user_id)
);

CREATE TABLE service_keys (
    id          UUID NOT NULL PRIMARY KEY,
    project_uid UUID NOT NULL REFERENCES projects (uid),
    name        TEXT NOT NULL,
    prefix      TEXT COLLATE "C" NOT NULL UNIQUE,
    digest      BYTEA NOT NULL CHECK (length(digest) = 32),
    role        TEXT NOT NULL CHECK (role IN ('owner', 'editor', 'auditor', 'viewer', 'agent')),
    group_names TEXT NOT NULL,
    created_at  BIGINT NOT NULL,
    created_by  TEXT NOT NULL,
    expires_at  BIGINT,
    revoked_at  BIGINT
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

-- Servers, and when each was last known to run.
CREATE TABLE instances (
    id           UUID NOT NULL PRIMARY KEY,
    started_at   BIGINT NOT NULL,
    heartbeat_at BIGINT NOT NULL
);

-- One row per decision. Ids are UUIDs of version 7, so new rows go to the end of their project.
-- There is no foreign key to projects: the row must cost as little as possible, and it outlives the project.
CREATE TABLE records (
    project_uid      UUID NOT NULL,
    id               UUID NOT NULL,
    instance         UUID NOT NULL,
    at               BIGINT NOT NULL,
    action           TEXT NOT NULL CHECK (action IN ('call', 'resolve')),
    outcome          TEXT NOT NULL,
    code             TEXT,
    principal_kind   TEXT NOT NULL CHECK (principal_kind IN ('user', 'service_key', 'external')),
    principal_id     TEXT NOT NULL,
    tool             TEXT,
    revision         BIGINT,
    snapshot_version BIGINT NOT NULL,
    state_before     TEXT NOT NULL,
    state_after      TEXT,
    duration_ms      BIGINT CHECK (duration_ms >= 0),
    closed_at        BIGINT,
    usage            TEXT,
    detail           TEXT NOT NULL,
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
);

CREATE INDEX records_open ON records (instance) WHERE outcome = 'open';

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
