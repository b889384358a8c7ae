-- The kept answer of a call is found by the call's id.
CREATE INDEX claims_by_call ON idempotency_claims (call_id);

-- Running calls that somebody wants to end. The server that runs one ends it.
CREATE TABLE call_cancellations (
    project_uid UUID NOT NULL REFERENCES projects (uid),
    call_id     UUID NOT NULL,
    at          BIGINT NOT NULL,
    PRIMARY KEY (project_uid, call_id)
);
CREATE INDEX call_cancellations_by_age ON call_cancellations (at);
