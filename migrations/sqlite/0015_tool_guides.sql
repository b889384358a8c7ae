-- Guides: how tools are used, in Markdown. `definition` is what was written, without the id.
CREATE TABLE tool_guides (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    id          TEXT    NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    definition  TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, id)
) STRICT, WITHOUT ROWID;

-- The programs that connected by MCP, as they name themselves, with the principals that they came as.
CREATE TABLE mcp_clients (
    project_uid  BLOB    NOT NULL REFERENCES projects (uid),
    principal    TEXT    NOT NULL,
    name         TEXT    NOT NULL,
    version      TEXT    NOT NULL,
    first_at     INTEGER NOT NULL,
    last_at      INTEGER NOT NULL,
    PRIMARY KEY (project_uid, principal, name, version),
    CHECK (first_at <= last_at)
) STRICT, WITHOUT ROWID;
CREATE INDEX mcp_clients_by_use ON mcp_clients (project_uid, last_at);
