"""What brings an embedded store of this version back to an older one."""

AS_SCHEMA_3 = """
    DROP INDEX members_again;
    DROP INDEX documents_again;
    DROP INDEX chunks_by_filter;
    DROP INDEX terms_again;
    DROP TABLE outlines;
    ALTER TABLE audiences DROP COLUMN checksum;
    ALTER TABLE chunks DROP COLUMN key_checksum;
    ALTER TABLE chunks DROP COLUMN checksum;
    ALTER TABLE terms DROP COLUMN checksum;
    ALTER TABLE counts DROP COLUMN checksum;
    DELETE FROM meta WHERE key IN ('scan', 'checksum');
    PRAGMA user_version = 3;
"""
