-- Calls whose answer may come after the server that began them has stopped: any server completes their records, at the deadline at
-- the latest. A row is deleted some time after its record was completed.
CREATE TABLE deferred_calls (
    record_seq  INTEGER NOT NULL PRIMARY KEY,
    project_uid BLOB    NOT NULL REFERENCES projects (uid),
    call_id     BLOB    NOT NULL,
    until       INTEGER NOT NULL,
    begun       TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX deferred_calls_by_call ON deferred_calls (project_uid, call_id);
