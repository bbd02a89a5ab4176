-- The files and folders whose text the chats of a project can ask for. What was read of them is in an index of its own.
CREATE TABLE project_documents (
    project_id TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    PRIMARY KEY (project_id, path)
) WITHOUT ROWID;
