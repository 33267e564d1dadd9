PRAGMA foreign_keys=OFF;
BEGIN TRANSACTION;
CREATE TABLE modlist (
	id     INTEGER PRIMARY KEY,
	digest BLOB NOT NULL UNIQUE -- SHA-256 of the mods as JSON
) STRICT;
INSERT INTO modlist VALUES(1,X'9cbfd041af969e1387cbd237b1b55453db001cf8e21a4e565e540809524c1abe');
INSERT INTO modlist VALUES(2,X'52972607005331c045a1997f38030e7a5dbf000434a019c1eeb77c3fd527fc58');
CREATE TABLE mod (
	id       INTEGER PRIMARY KEY,
	key      TEXT NOT NULL UNIQUE, -- the package id or else the name, in small letters
	name     TEXT NOT NULL,
	package  TEXT NOT NULL,
	workshop TEXT NOT NULL
) STRICT;
INSERT INTO mod VALUES(1,'core','Core','','');
INSERT INTO mod VALUES(2,'new','New','','');
CREATE TABLE modlist_entry (
	list     INTEGER NOT NULL,
	mod      INTEGER NOT NULL,
	position INTEGER NOT NULL,
	versions TEXT NOT NULL,
	PRIMARY KEY (list, mod)
) STRICT, WITHOUT ROWID;
INSERT INTO modlist_entry VALUES(1,1,0,'');
INSERT INTO modlist_entry VALUES(2,1,0,'');
INSERT INTO modlist_entry VALUES(2,2,1,'1.0');
CREATE TABLE session (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	game       TEXT NOT NULL, -- without its version, '' for unknown
	version    TEXT NOT NULL,
	log        TEXT NOT NULL,
	bytes      INTEGER NOT NULL,
	hash       INTEGER NOT NULL,
	began      INTEGER, -- as the log shows
	ended      INTEGER NOT NULL,
	live       INTEGER NOT NULL,
	running    INTEGER NOT NULL,
	saved      INTEGER NOT NULL,
	state      TEXT NOT NULL,
	reason     TEXT NOT NULL,
	headline   TEXT NOT NULL,
	broken     INTEGER NOT NULL,
	sound      INTEGER NOT NULL,
	lines      INTEGER NOT NULL,
	records    INTEGER NOT NULL,
	signatures INTEGER NOT NULL, -- their version
	modlist    INTEGER, -- NULL: none is listed
	mods       INTEGER NOT NULL,
	whole_mods INTEGER NOT NULL, -- all mods are listed
	whole      INTEGER NOT NULL  -- all groups are listed
, masking INTEGER NOT NULL DEFAULT 0, marks BLOB NOT NULL DEFAULT x'') STRICT;
INSERT INTO session VALUES(1,'Colony','1.2','a.log',1,1,NULL,1793563200000,0,0,1796040000000,'healthy','','healthy',0,1,0,500,2,1,1,1,1,0,X'');
INSERT INTO session VALUES(2,'Colony','1.2','a.log',2,2,NULL,1793649600000,0,0,1796040000000,'broken','','broken',1,0,0,500,2,2,2,1,1,0,X'');
CREATE TABLE body (
	session INTEGER PRIMARY KEY,
	data    BLOB NOT NULL -- summary.Session without templates, as JSON, compressed with zstd
) STRICT;
INSERT INTO body VALUES(1,X'28b52ffd4400b7001508003214371f5067dc0041188632a143a6b95813c459d9b1280c008f99e9c54bf8c8cc4c858fe1b940a16c71208450d1070d93f87827b1e679e5b434c781c48e00796d8ba0d92de548c8777b8b1cafec39a359fb7965cf1dbf4a5bcf3bbd9c1a281fafda4220cb0ecfb75dbd781b5ec9b179eb147baa2d0427e648c8b3bad7a9a9c5477daef3daca1a6691234201794edc22ea8e28cfda166b8b254997e39da559d2e579edd47c343c57b785823c27cb1c9f138ca370dab22da827f2dc48528ecf0f849e5f382dc723cfdacee178b5cc48cf2b93da1379b5ec78e4db2e766af0440c00686b0626e4d66008cb3e6a537590d8d046c8d8b91aa070e4eba166003cd4eb707b959715f2');
INSERT INTO body VALUES(2,X'28b52ffd4400ad0165090012563c2060699b01089846dbf55e69e5c58689a401942e0e2e870d199216d15f47510802cf21390cf041be4e118c32e349039f050e453b1084103ade42c3a41d67a4d59ceba645330ea43502e4ca54c15ba71463923fe634655c97e30c6ff59deb72dc78533075ce78ca6982eef8c21482d216e29c35f5d4b66655621c699ce696e52c4c216c629cf3125bd48eeab897ebd3d5304d19110ac837e19aa26e44f92a538ba99548ba18678ad01ce25c5f7a3b1e9e9101395f5c410df0595d2338c837d198f13931200783b5d508961bf93e2529c6e704a1f3c5a6c598e4ab8f81185fda32a4736512bb912f6d8d48ce9a5aa709370214009009c7d6a8e188ae78e657b66d65b86660426e0e86b0fbf336b504980d6d848cb90e03519341de9ce77844cf14d3c3c20078a8d7e1f63d3129a3');
CREATE TABLE signature (
	id        INTEGER PRIMARY KEY,
	grp       INTEGER NOT NULL, -- the id of one of its group
	signature INTEGER NOT NULL,
	version   INTEGER NOT NULL,
	game      TEXT NOT NULL,
	template  TEXT NOT NULL, -- '' where it names no group of a session
	UNIQUE (signature, version, game)
) STRICT;
INSERT INTO signature VALUES(1,1,1,2,'Colony','text 0000000000000001 of <*>');
INSERT INTO signature VALUES(2,2,2,2,'Colony','text 0000000000000002 of <*>');
INSERT INTO signature VALUES(3,2,3,2,'Colony','');
CREATE TABLE occurrence (
	session     INTEGER NOT NULL,
	sig         INTEGER NOT NULL, -- signature.id of the signature that names the group in the session
	count       INTEGER NOT NULL,
	disposition TEXT NOT NULL,
	severity    TEXT NOT NULL,
	rule        TEXT NOT NULL,
	first       INTEGER NOT NULL,
	last        INTEGER NOT NULL,
	phase       TEXT NOT NULL,
	PRIMARY KEY (session, sig)
) STRICT, WITHOUT ROWID;
INSERT INTO occurrence VALUES(1,1,2,'blocking','info','test.rule',3,9,'play');
INSERT INTO occurrence VALUES(2,1,2,'blocking','info','test.rule',3,9,'play');
INSERT INTO occurrence VALUES(2,2,2,'blocking','info','test.rule',3,9,'play');
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('session',2);
CREATE INDEX session_log ON session (bytes, hash);
CREATE INDEX session_ended ON session (ended, id);
CREATE INDEX session_modlist ON session (modlist);
CREATE INDEX signature_grp ON signature (grp);
CREATE VIEW sessions AS SELECT id, game, version, log,
	strftime('%Y-%m-%dT%H:%M:%SZ', began / 1000.0, 'unixepoch') AS began,
	strftime('%Y-%m-%dT%H:%M:%SZ', ended / 1000.0, 'unixepoch') AS ended,
	running, state, reason, headline, broken, sound, lines, records, mods
	FROM session;
CREATE VIEW mods AS SELECT s.id AS session, s.game, e.position, m.name, m.package, m.workshop, e.versions
	FROM session s JOIN modlist_entry e ON e.list = s.modlist JOIN mod m ON m.id = e.mod;
CREATE INDEX occurrence_sig ON occurrence (sig, session, count);
CREATE VIEW occurrences AS SELECT o.session, s.game, s.ended, printf('%016x', b.signature) AS "group",
	printf('%016x', a.signature) AS signature, a.template, o.disposition, o.severity, o.rule, o.count,
	o.first AS first_line, o.last AS last_line, o.phase
	FROM sessions s CROSS JOIN occurrence o ON o.session = s.id -- in the order of its rows
	JOIN signature a ON a.id = o.sig JOIN signature b ON b.id = a.grp
;
CREATE VIEW groups AS SELECT b.game, printf('%016x', b.signature) AS signature, max(a.template) AS template,
	iif(count(*) = 1, sum(o.sessions), (SELECT count(DISTINCT p.session) FROM signature c JOIN occurrence p ON p.sig = c.id
		WHERE c.grp = b.id)) AS sessions, sum(o.entries) AS entries,
	strftime('%Y-%m-%dT%H:%M:%SZ', min(o.first) / 1000.0, 'unixepoch') AS first_seen,
	strftime('%Y-%m-%dT%H:%M:%SZ', max(o.last) / 1000.0, 'unixepoch') AS last_seen
	FROM (SELECT o.sig, count(*) AS sessions, sum(o.count) AS entries, min(s.ended) AS first, max(s.ended) AS last
		FROM occurrence o CROSS JOIN session s ON s.id = o.session GROUP BY o.sig) o
	JOIN signature a ON a.id = o.sig JOIN signature b ON b.id = a.grp GROUP BY b.id;
COMMIT;
PRAGMA application_id = 1751741300;
PRAGMA user_version = 2;
