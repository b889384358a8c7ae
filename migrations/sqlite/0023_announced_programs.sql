-- What tool services and workers announced on the message bus last. `base` is the descriptor that was decided about last. One server
-- imports an announcement: the one that claimed it; another takes over if it has not done so in time.
CREATE TABLE announced_programs (
    project_uid  BLOB    NOT NULL REFERENCES projects (uid),
    kind         TEXT    NOT NULL CHECK (kind IN ('tool_service', 'worker')),
    name         TEXT    NOT NULL,
    digest       TEXT    NOT NULL,
    version      TEXT    NOT NULL,
    instance     TEXT    NOT NULL,
    started_at   INTEGER NOT NULL,
    announced_at INTEGER NOT NULL,
    descriptor   TEXT,
    base         TEXT,
    problems     TEXT    NOT NULL,
    imported     INTEGER NOT NULL CHECK (imported IN (0, 1)),
    claimed_at   INTEGER NOT NULL,
    PRIMARY KEY (project_uid, kind, name)
) STRICT, WITHOUT ROWID;

-- SQLite changes no CHECK, so the column is made again.
ALTER TABLE imports RENAME COLUMN format TO format_before;
ALTER TABLE imports ADD COLUMN format TEXT NOT NULL DEFAULT 'openapi31'
    CHECK (format IN ('swagger2', 'openapi30', 'openapi31', 'openapi32', 'mcp', 'announced'));
UPDATE imports SET format = format_before;
ALTER TABLE imports DROP COLUMN format_before;
