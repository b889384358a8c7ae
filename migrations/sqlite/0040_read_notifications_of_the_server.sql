-- The alerts of the server are notifications that are in no project: their `project_uid` is the nil UUID.
CREATE TABLE read_notifications_of_all (
    user_id      BLOB NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    project_uid  BLOB NOT NULL,
    notification TEXT    NOT NULL,
    read_at      INTEGER NOT NULL,
    PRIMARY KEY (user_id, project_uid, notification)
) STRICT, WITHOUT ROWID;
INSERT INTO read_notifications_of_all SELECT user_id, project_uid, notification, read_at FROM read_notifications;
DROP TABLE read_notifications;
ALTER TABLE read_notifications_of_all RENAME TO read_notifications;
CREATE INDEX read_notifications_by_age ON read_notifications (read_at);
