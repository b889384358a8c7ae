-- The MCP servers of a project are one more of its documents, and their tools one more format of imports.
CREATE TABLE project_documents_with_servers (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    kind        TEXT    NOT NULL CHECK (kind IN ('settings', 'limits', 'egress', 'mcp_servers')),
    revision    INTEGER NOT NULL CHECK (revision > 0),
    content     TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO project_documents_with_servers SELECT project_uid, kind, revision, content, updated_at, updated_by FROM project_documents;
DROP TABLE project_documents;
ALTER TABLE project_documents_with_servers RENAME TO project_documents;

-- SQLite changes no CHECK, so the column is made again.
ALTER TABLE imports RENAME COLUMN format TO format_before;
ALTER TABLE imports ADD COLUMN format TEXT NOT NULL DEFAULT 'openapi31'
    CHECK (format IN ('swagger2', 'openapi30', 'openapi31', 'openapi32', 'mcp'));
UPDATE imports SET format = format_before;
ALTER TABLE imports DROP COLUMN format_before;
