-- Descriptions whose operations are tools. `source` and `hosts` are JSON; `revision` is the version of the project in which
-- the row was last written, so that it never comes again for another content.
CREATE TABLE imports (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    id          TEXT    NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    title       TEXT    NOT NULL,
    version     TEXT    NOT NULL,
    format      TEXT    NOT NULL CHECK (format IN ('swagger2', 'openapi30', 'openapi31')),
    source      TEXT    NOT NULL,
    hosts       TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    created_by  TEXT    NOT NULL,
    imported_at INTEGER NOT NULL,
    imported_by TEXT    NOT NULL,
    PRIMARY KEY (project_uid, id)
) STRICT, WITHOUT ROWID;

-- The operations of imports. A tool belongs to one import at most. `base` is the definition as the description had it when
-- it was last imported, approved or rejected; `waiting` is a newer one that nobody has decided about.
CREATE TABLE import_operations (
    project_uid   BLOB    NOT NULL,
    tool          TEXT    NOT NULL,
    import_id     TEXT    NOT NULL,
    revision      INTEGER NOT NULL CHECK (revision > 0),
    method        TEXT    NOT NULL,
    path          TEXT    NOT NULL,
    base          TEXT    NOT NULL,
    waiting       TEXT,
    waiting_since INTEGER,
    waiting_by    TEXT,
    gone_since    INTEGER,
    PRIMARY KEY (project_uid, tool),
    FOREIGN KEY (project_uid, import_id) REFERENCES imports (project_uid, id),
    CHECK ((waiting IS NULL) = (waiting_since IS NULL) AND (waiting IS NULL) = (waiting_by IS NULL))
) STRICT;
CREATE INDEX import_operations_by_import ON import_operations (project_uid, import_id, tool);
CREATE INDEX import_operations_waiting ON import_operations (project_uid, tool) WHERE waiting IS NOT NULL;

-- A kind of document more: where the tools of a project may connect to.
CREATE TABLE project_documents_of_three_kinds (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    kind        TEXT    NOT NULL CHECK (kind IN ('settings', 'limits', 'egress')),
    revision    INTEGER NOT NULL CHECK (revision > 0),
    content     TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, kind)
) STRICT, WITHOUT ROWID;
INSERT INTO project_documents_of_three_kinds SELECT * FROM project_documents;
DROP TABLE project_documents;
ALTER TABLE project_documents_of_three_kinds RENAME TO project_documents;
