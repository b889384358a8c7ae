-- Notifications that a user has read. `notification` names what it is about, for example `alert:<id>`.
CREATE TABLE read_notifications (
    user_id      UUID NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_uid  UUID NOT NULL REFERENCES projects (uid),
    notification TEXT COLLATE "C" NOT NULL,
    read_at      BIGINT NOT NULL,
    PRIMARY KEY (user_id, project_uid, notification)
);
CREATE INDEX read_notifications_by_age ON read_notifications (read_at);
