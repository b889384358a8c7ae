-- Workflow runs. `group_names` is the request's groups as JSON; NULL is "absent", which is not "[]".
CREATE TABLE sessions (
    project_uid    UUID    NOT NULL REFERENCES projects (uid),
    id             UUID    NOT NULL PRIMARY KEY,
    principal_kind TEXT    NOT NULL CHECK (principal_kind IN ('user', 'service_key', 'external')),
    principal_id   TEXT COLLATE "C" NOT NULL,
    principal_name TEXT    NOT NULL,
    label          TEXT,
    group_names    TEXT,
    context        TEXT,
    state          TEXT COLLATE "C" NOT NULL,
    -- Counts the moves from 1; a move applies only to the version its call was admitted at.
    version        BIGINT NOT NULL CHECK (version > 0),
    created_at     BIGINT NOT NULL,
    moved_at       BIGINT NOT NULL,
    expires_at     BIGINT NOT NULL,
    ended_at       BIGINT
);

CREATE INDEX sessions_of_project ON sessions (project_uid, id);
CREATE INDEX sessions_of_principal ON sessions (project_uid, principal_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);
-- For counting those that live; what has only expired is behind the end of the range.
CREATE INDEX sessions_living ON sessions (project_uid, expires_at) WHERE ended_at IS NULL;
CREATE INDEX sessions_living_of_principal ON sessions (project_uid, principal_id, expires_at) WHERE ended_at IS NULL;

-- Every move that was applied; `version` is the session's version after it.
CREATE TABLE transitions (
    project_uid UUID    NOT NULL,
    session_id  UUID    NOT NULL REFERENCES sessions (id) ON DELETE CASCADE,
    version     BIGINT NOT NULL,
    call_id     UUID    NOT NULL,
    tool        TEXT    NOT NULL,
    from_state  TEXT    NOT NULL,
    to_state    TEXT    NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (session_id, version)
);
