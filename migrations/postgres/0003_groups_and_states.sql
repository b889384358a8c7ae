-- Declared groups and states: a description, and on groups a condition. What tools use needs no row here. `revision` is
-- the version of the project in which the row was last written, so that it never comes again for another content.
CREATE TABLE tool_groups (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    condition   TEXT,
    revision    BIGINT NOT NULL CHECK (revision > 0),
    updated_at  BIGINT NOT NULL,
    updated_by  TEXT NOT NULL,
    PRIMARY KEY (project_uid, name)
);

CREATE TABLE tool_states (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    name        TEXT COLLATE "C" NOT NULL,
    description TEXT NOT NULL,
    revision    BIGINT NOT NULL CHECK (revision > 0),
    updated_at  BIGINT NOT NULL,
    updated_by  TEXT NOT NULL,
    PRIMARY KEY (project_uid, name)
);
