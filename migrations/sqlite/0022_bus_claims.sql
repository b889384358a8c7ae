-- What one message or one session on the bus holds: a token that was used, by the message that it came with, and a session alias,
-- by its session. A row is deleted some time after it has expired.
CREATE TABLE bus_claims (
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    kind        TEXT    NOT NULL,
    name        TEXT    NOT NULL,
    holder      TEXT    NOT NULL,
    expires_at  INTEGER NOT NULL,
    PRIMARY KEY (project_uid, kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX bus_claims_by_end ON bus_claims (expires_at);
