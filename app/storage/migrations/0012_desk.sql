-- What is being written in a tab and with which choices, saved at every pause: one row for each key, values as JSON.
CREATE TABLE desk (
    tab TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (tab, key)
) WITHOUT ROWID;

INSERT INTO desk (tab, key, value) SELECT 'speech', key, value FROM speech_desk;
INSERT INTO desk (tab, key, value) SELECT 'images', name, value FROM image_desk;
INSERT INTO desk (tab, key, value) SELECT 'video', key, value -> '$.value' FROM video_desk WHERE json_valid(value);

DROP TABLE speech_desk;
DROP TABLE image_desk;
DROP TABLE video_desk;
