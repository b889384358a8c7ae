-- What a principal asked for after a refusal: groups of its own, or a host for the tools of the project. `asked` is JSON. A request is decided
-- once.
CREATE TABLE access_requests (
    project_uid    UUID    NOT NULL REFERENCES projects (uid),
    id             UUID    NOT NULL,
    principal      TEXT COLLATE "C" NOT NULL,
    principal_name TEXT    NOT NULL,
    asked          TEXT    NOT NULL,
    reason         TEXT    NOT NULL,
    status         TEXT    NOT NULL,
    created_at     BIGINT  NOT NULL,
    decided_at     BIGINT,
    decided_by     TEXT,
    note           TEXT,
    PRIMARY KEY (project_uid, id),
    CONSTRAINT access_requests_decided CHECK ((status = 'open') = (decided_at IS NULL)),
    CONSTRAINT access_requests_decider CHECK ((decided_at IS NULL) = (decided_by IS NULL))
);
CREATE INDEX access_requests_by_principal ON access_requests (project_uid, principal, created_at);
CREATE INDEX access_requests_age ON access_requests (created_at);
