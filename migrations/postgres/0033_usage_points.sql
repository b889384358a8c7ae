-- What was counted over time, by the minute and by the hour; `step` is 60 or 3600 seconds, `at` is when it began. The kind
-- 'project' has one name, ''. Old ones are dropped: minutes after two days, hours after five weeks.
CREATE TABLE usage_points (
    project_uid UUID             NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal', 'entrance')),
    step        BIGINT           NOT NULL CHECK (step IN (60, 3600)),
    at          BIGINT           NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    calls       BIGINT           NOT NULL CHECK (calls >= 0),
    denials     BIGINT           NOT NULL CHECK (denials >= 0),
    failures    BIGINT           NOT NULL CHECK (failures >= 0),
    PRIMARY KEY (project_uid, kind, step, at, name)
);

CREATE INDEX usage_points_age ON usage_points (step, at);

-- How many of these calls took how long: a bucket is a range of milliseconds.
CREATE TABLE usage_durations (
    project_uid UUID             NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL CHECK (kind IN ('project', 'tool', 'group', 'principal', 'entrance')),
    step        BIGINT           NOT NULL CHECK (step IN (60, 3600)),
    at          BIGINT           NOT NULL,
    name        TEXT COLLATE "C" NOT NULL,
    bucket      BIGINT           NOT NULL CHECK (bucket >= 0),
    calls       BIGINT           NOT NULL CHECK (calls >= 0),
    PRIMARY KEY (project_uid, kind, step, at, name, bucket)
);

CREATE INDEX usage_durations_age ON usage_durations (step, at);
