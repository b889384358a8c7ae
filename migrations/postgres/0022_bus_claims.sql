-- What one message or one session on the bus holds: a token that was used, by the message that it came with, and a session alias,
-- by its session. A row is deleted some time after it has expired.
CREATE TABLE bus_claims (
    project_uid UUID    NOT NULL REFERENCES projects (uid),
    kind        TEXT COLLATE "C" NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    holder      TEXT    NOT NULL,
    expires_at  BIGINT  NOT NULL,
    PRIMARY KEY (project_uid, kind, name)
);
CREATE INDEX bus_claims_by_end ON bus_claims (expires_at);
