-- The alerts of the server are notifications that are in no project: their `project_uid` is the nil UUID.
ALTER TABLE read_notifications DROP CONSTRAINT read_notifications_project_uid_fkey;
