-- Notifications that a user has read. `notification` names what it is about, for example `alert:<id>`.
CREATE TABLE read_notifications (
    user_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_uid  BLOB NOT NULL REFERENCES projects (uid),
    notification TEXT    NOT NULL,
    read_at      INTEGER NOT NULL,
    PRIMARY KEY (user_id, project_uid, notification)
) STRICT, WITHOUT ROWID;
CREATE INDEX read_notifications_by_age ON read_notifications (read_at);
