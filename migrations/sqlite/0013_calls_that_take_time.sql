-- The kept answer of a call is found by the call's id.
CREATE INDEX claims_by_call ON idempotency_claims (call_id);

-- Running calls that somebody wants to end. The server that runs one ends it.
CREATE TABLE call_cancellations (
    project_uid BLOB NOT NULL REFERENCES projects (uid),
    call_id     BLOB NOT NULL,
    at          INTEGER NOT NULL,
    PRIMARY KEY (project_uid, call_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX call_cancellations_by_age ON call_cancellations (at);
