-- Guides: how tools are used, in Markdown. `definition` is what was written, without the id.
CREATE TABLE tool_guides (
    project_uid UUID   NOT NULL REFERENCES projects (uid),
    id          TEXT   COLLATE "C" NOT NULL,
    revision    BIGINT NOT NULL CHECK (revision > 0),
    definition  TEXT   NOT NULL,
    updated_at  BIGINT NOT NULL,
    updated_by  TEXT   NOT NULL,
    PRIMARY KEY (project_uid, id)
);

-- The programs that connected by MCP, as they name themselves, with the principals that they came as.
CREATE TABLE mcp_clients (
    project_uid  UUID   NOT NULL REFERENCES projects (uid),
    principal    TEXT   COLLATE "C" NOT NULL,
    name         TEXT   COLLATE "C" NOT NULL,
    version      TEXT   COLLATE "C" NOT NULL,
    first_at     BIGINT NOT NULL,
    last_at      BIGINT NOT NULL,
    PRIMARY KEY (project_uid, principal, name, version),
    CHECK (first_at <= last_at)
);
CREATE INDEX mcp_clients_by_use ON mcp_clients (project_uid, last_at);
