-- How long the calls of a tool took: how many of them ended in the hour, all of their milliseconds, and the slowest one's.
ALTER TABLE usage_hours ADD COLUMN ended      BIGINT NOT NULL DEFAULT 0 CHECK (ended >= 0);
ALTER TABLE usage_hours ADD COLUMN total_ms   BIGINT NOT NULL DEFAULT 0 CHECK (total_ms >= 0);
ALTER TABLE usage_hours ADD COLUMN slowest_ms BIGINT NOT NULL DEFAULT 0 CHECK (slowest_ms >= 0);
