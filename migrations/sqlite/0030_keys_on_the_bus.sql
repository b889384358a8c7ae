-- What a program may do that connects to the message bus with a key, in JSON; NULL for nothing.
ALTER TABLE service_keys ADD COLUMN bus TEXT;
