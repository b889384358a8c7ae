-- Sessions that their clients ended before anything was stored of them, for as long as their ids could be used.
CREATE TABLE ended_sessions (
    id       UUID   NOT NULL PRIMARY KEY,
    ended_at BIGINT NOT NULL
);
CREATE INDEX ended_sessions_by_age ON ended_sessions (ended_at);
