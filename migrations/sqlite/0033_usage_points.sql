-- What was counted over time, by the minute and by the hour; `step` is 60 or 3600 seconds, `at` is when it began. The kind
-- 'project' has one name, ''. Old ones are dropped: minutes after two days, hours after five weeks.
CREATE TABLE usage_points (
    project_uid BLOB    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal', 'entrance')),
    step        INTEGER NOT NULL CHECK (step IN (60, 3600)),
    at          INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    calls       INTEGER NOT NULL CHECK (calls >= 0),
    denials     INTEGER NOT NULL CHECK (denials >= 0),
    failures    INTEGER NOT NULL CHECK (failures >= 0),
    PRIMARY KEY (project_uid, kind, step, at, name)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_points_age ON usage_points (step, at);

-- How many of these calls took how long: a bucket is a range of milliseconds.
CREATE TABLE usage_durations (
    project_uid BLOB    NOT NULL,
    kind        TEXT    NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal', 'entrance')),
    step        INTEGER NOT NULL CHECK (step IN (60, 3600)),
    at          INTEGER NOT NULL,
    name        TEXT    NOT NULL,
    bucket      INTEGER NOT NULL CHECK (bucket >= 0),
    calls       INTEGER NOT NULL CHECK (calls >= 0),
    PRIMARY KEY (project_uid, kind, step, at, name, bucket)
) STRICT, WITHOUT ROWID;

CREATE INDEX usage_durations_age ON usage_durations (step, at);
