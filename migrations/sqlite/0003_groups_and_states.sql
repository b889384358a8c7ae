-- Declared groups and states: a description, and on groups a condition. What tools use needs no row here. `revision` is
-- the version of the project in which the row was last written, so that it never comes again for another content.
CREATE TABLE tool_groups (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    condition   TEXT,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE tool_states (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    name        TEXT    NOT NULL,
    description TEXT    NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, name)
) STRICT, WITHOUT ROWID;
