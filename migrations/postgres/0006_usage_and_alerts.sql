-- How often a tool, a group or a principal was asked for. The kind 'project' has one name, ''.
CREATE TABLE usage_totals (
    project_uid UUID             NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal')),
    name        TEXT COLLATE "C" NOT NULL,
    calls       BIGINT           NOT NULL CHECK (calls >= 0),
    denials     BIGINT           NOT NULL CHECK (denials >= 0),
    failures    BIGINT           NOT NULL CHECK (failures >= 0),
    last_at     BIGINT           NOT NULL,
    PRIMARY KEY (project_uid, kind, name)
);

-- The same by the hour; old hours are dropped. `hour` is when it began.
CREATE TABLE usage_hours (
    project_uid UUID             NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal')),
    hour        BIGINT           NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    calls       BIGINT           NOT NULL CHECK (calls >= 0),
    denials     BIGINT           NOT NULL CHECK (denials >= 0),
    failures    BIGINT           NOT NULL CHECK (failures >= 0),
    last_at     BIGINT           NOT NULL,
    PRIMARY KEY (project_uid, kind, hour, name)
);

CREATE INDEX usage_hours_age ON usage_hours (hour);

-- Which groups a principal has used.
CREATE TABLE group_uses (
    project_uid UUID             NOT NULL,
    principal   TEXT COLLATE "C" NOT NULL,
    group_name  TEXT COLLATE "C" NOT NULL,
    first_at    BIGINT           NOT NULL,
    last_at     BIGINT           NOT NULL,
    PRIMARY KEY (project_uid, principal, group_name)
);

-- Suspicious patterns. Those of the server itself stand under the nil project. A pattern that several servers notice is
-- one row; `due_at` is when the message to the webhook is to be sent (again), put off while a server is sending it.
CREATE TABLE alerts (
    project_uid     UUID             NOT NULL,
    id              UUID             NOT NULL,
    at              BIGINT           NOT NULL,
    rule            TEXT COLLATE "C" NOT NULL,
    subject         TEXT COLLATE "C" NOT NULL,
    object          TEXT COLLATE "C" NOT NULL,
    window_start    BIGINT           NOT NULL,
    subject_name    TEXT,
    message         TEXT             NOT NULL,
    details         TEXT             NOT NULL,
    acknowledged_at BIGINT,
    acknowledged_by TEXT,
    delivery        TEXT             NOT NULL CHECK (delivery IN ('none', 'pending', 'delivered', 'failed')),
    attempts        BIGINT           NOT NULL CHECK (attempts >= 0),
    due_at          BIGINT,
    delivered_at    BIGINT,
    last_error      TEXT,
    PRIMARY KEY (project_uid, id),
    CONSTRAINT alerts_once UNIQUE (project_uid, rule, subject, object, window_start),
    CONSTRAINT alerts_due CHECK ((delivery = 'pending') = (due_at IS NOT NULL)),
    CONSTRAINT alerts_acknowledged CHECK ((acknowledged_at IS NULL) = (acknowledged_by IS NULL))
);

CREATE INDEX alerts_to_send ON alerts (due_at) WHERE delivery = 'pending';
CREATE INDEX alerts_age ON alerts (at);
