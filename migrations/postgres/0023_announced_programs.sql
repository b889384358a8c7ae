-- What tool services and workers announced on the message bus last. `base` is the descriptor that was decided about last. One server
-- imports an announcement: the one that claimed it; another takes over if it has not done so in time.
CREATE TABLE announced_programs (
    project_uid  UUID             NOT NULL REFERENCES projects (uid),
    kind         TEXT COLLATE "C" NOT NULL CHECK (kind IN ('tool_service', 'worker')),
    name         TEXT COLLATE "C" NOT NULL,
    digest       TEXT             NOT NULL,
    version      TEXT             NOT NULL,
    instance     TEXT             NOT NULL,
    started_at   BIGINT           NOT NULL,
    announced_at BIGINT           NOT NULL,
    descriptor   TEXT,
    base         TEXT,
    problems     TEXT             NOT NULL,
    imported     BOOLEAN          NOT NULL,
    claimed_at   BIGINT           NOT NULL,
    PRIMARY KEY (project_uid, kind, name)
);

ALTER TABLE imports DROP CONSTRAINT imports_format_check;
ALTER TABLE imports ADD CONSTRAINT imports_format_check
    CHECK (format IN ('swagger2', 'openapi30', 'openapi31', 'openapi32', 'mcp', 'announced'));
