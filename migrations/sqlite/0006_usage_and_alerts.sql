-- How often a tool, a group or a principal was asked for. The kind 'project' has one name, ''.
CREATE TABLE usage_totals (
    project_uid BLOB    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal')),
    name        TEXT    NOT NULL,
    calls       INTEGER NOT NULL CHECK (calls >= 0),
    denials     INTEGER NOT NULL CHECK (denials >= 0),
    failures    INTEGER NOT NULL CHECK (failures >= 0),
    last_at     INTEGER NOT NULL,
    PRIMARY KEY (project_uid, kind, name)
) STRICT, WITHOUT ROWID;

-- The same by the hour; old hours are dropped. `hour` is when it began.
CREATE TABLE usage_hours (
    project_uid BLOB    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal')),
    hour        INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    calls       INTEGER NOT NULL CHECK (calls >= 0),
    denials     INTEGER NOT NULL CHECK (denials >= 0),
    failures    INTEGER NOT NULL CHECK (failures >= 0),
    last_at     INTEGER NOT NULL,
    PRIMARY KEY (project_uid, kind, hour, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_hours_age ON usage_hours (hour);

-- Which groups a principal has used.
CREATE TABLE group_uses (
    project_uid BLOB    NOT NULL,
    principal   TEXT    NOT NULL,
    group_name  TEXT    NOT NULL,
    first_at    INTEGER NOT NULL,
    last_at     INTEGER NOT NULL,
    PRIMARY KEY (project_uid, principal, group_name)
) STRICT, WITHOUT ROWID;

-- Suspicious patterns. Those of the server itself stand under the nil project. A pattern that several servers notice is
-- one row; `due_at` is when the message to the webhook is to be sent (again), put off while a server is sending it.
CREATE TABLE alerts (
    project_uid     BLOB    NOT NULL,
    id              BLOB    NOT NULL,
    at              INTEGER NOT NULL,
    rule            TEXT    NOT NULL,
    subject         TEXT    NOT NULL,
    object          TEXT    NOT NULL,
    window_start    INTEGER NOT NULL,
    subject_name    TEXT,
    message         TEXT    NOT NULL,
    details         TEXT    NOT NULL,
    acknowledged_at INTEGER,
    acknowledged_by TEXT,
    delivery        TEXT    NOT NULL CHECK (delivery IN ('none', 'pending', 'delivered', 'failed')),
    attempts        INTEGER NOT NULL CHECK (attempts >= 0),
    due_at          INTEGER,
    delivered_at    INTEGER,
    last_error      TEXT,
    PRIMARY KEY (project_uid, id),
    CONSTRAINT alerts_once UNIQUE (project_uid, rule, subject, object, window_start),
    CONSTRAINT alerts_due CHECK ((delivery = 'pending') = (due_at IS NOT NULL)),
    CONSTRAINT alerts_acknowledged CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))
) STRICT, WITHOUT ROWID;

CREATE INDEX alerts_to_send ON alerts (due_at) WHERE delivery = 'pending';
CREATE INDEX alerts_age ON alerts (at);
