-- Messages to the webhooks of projects about what waits there, besides alerts. `id` is that of the notification; a message is
-- sent once for it. `delivery` and `due_at` are as in `alerts`.
CREATE TABLE notices (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    id          TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    at          INTEGER NOT NULL,
    message     TEXT    NOT NULL,
    subject     TEXT    NOT NULL,
    seen_at     INTEGER NOT NULL,
    delivery    TEXT    NOT NULL,
    attempts    INTEGER NOT NULL,
    due_at      INTEGER,
    last_error  TEXT,
    CONSTRAINT notices_delivery CHECK (delivery IN ('pending', 'delivered', 'failed')),
    CONSTRAINT notices_due CHECK ((delivery = 'pending') = (due_at IS NOT NULL)),
    PRIMARY KEY (project_uid, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX notices_to_send ON notices (due_at) WHERE delivery = 'pending';
CREATE INDEX notices_by_age ON notices (seen_at);
