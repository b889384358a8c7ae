-- Views of the record that were kept under a name: the query of its page. `owner` is a principal, or '' for those that the
-- project shares.
CREATE TABLE saved_views (
    project_uid UUID             NOT NULL REFERENCES projects (uid),
    id          UUID             NOT NULL,
    owner       TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    query       TEXT COLLATE "C" NOT NULL,
    author      TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT           NOT NULL,
    PRIMARY KEY (project_uid, id),
    CONSTRAINT saved_views_once UNIQUE (project_uid, owner, name)
);
