-- Views of the record that were kept under a name: the query of its page. `owner` is a principal, or '' for those that the
-- project shares.
CREATE TABLE saved_views (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    id          BLOB    NOT NULL,
    owner       TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    query       TEXT    NOT NULL,
    author      TEXT    NOT NULL,
    created_at  INTEGER NOT NULL,
    PRIMARY KEY (project_uid, id),
    CONSTRAINT saved_views_once UNIQUE (project_uid, owner, name)
) STRICT, WITHOUT ROWID;
