-- Messages to the webhooks of projects about what waits there, besides alerts. `id` is that of the notification; a message is
-- sent once for it. `delivery` and `due_at` are as in `alerts`.
CREATE TABLE notices (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    id          TEXT COLLATE "C" NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    at          BIGINT NOT NULL,
    message     TEXT COLLATE "C" NOT NULL,
    subject     TEXT COLLATE "C" NOT NULL,
    seen_at     BIGINT NOT NULL,
    delivery    TEXT COLLATE "C" NOT NULL,
    attempts    BIGINT NOT NULL,
    due_at      BIGINT,
    last_error  TEXT COLLATE "C",
    CONSTRAINT notices_delivery CHECK (delivery IN ('pending', 'delivered', 'failed')),
    CONSTRAINT notices_due CHECK ((delivery = 'pending') = (due_at IS NOT NULL)),
    PRIMARY KEY (project_uid, id)
);
CREATE INDEX notices_to_send ON notices (due_at) WHERE delivery = 'pending';
CREATE INDEX notices_by_age ON notices (seen_at);
