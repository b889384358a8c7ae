-- Expectations about decisions. `revision` is the version of the project in which the row was last written, so that it
-- never comes again for another content.
CREATE TABLE policy_tests (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    name        TEXT    NOT NULL,
    revision    INTEGER NOT NULL CHECK (revision > 0),
    definition  TEXT    NOT NULL,
    updated_at  INTEGER NOT NULL,
    updated_by  TEXT    NOT NULL,
    PRIMARY KEY (project_uid, name)
) STRICT, WITHOUT ROWID;
