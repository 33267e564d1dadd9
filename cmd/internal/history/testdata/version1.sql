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
) STRICT;
INSERT INTO session VALUES(1,'Colony','1.2','a.log',1,1,NULL,1793563200000,0,0,1796040000000,'healthy','','healthy',0,1,0,500,2,1,1,1,1);
INSERT INTO session VALUES(2,'Colony','1.2','a.log',2,2,NULL,1793649600000,0,0,1796040000000,'broken','','broken',1,0,0,500,2,2,2,1,1);
CREATE TABLE body (
	session INTEGER PRIMARY KEY,
	data    BLOB NOT NULL -- summary.Session without templates, as JSON, compressed with zstd
) STRICT;
INSERT INTO body VALUES(1,X'28b52ffd4400b800fd07003292321f60676400f8315be98be497ee9736b654b4bc3b4c202a0dc5369cfdf2cf2702d121ba80a1ac811c87d1074e837c3b84eafc9e8c8c731b40bd011034afa4b47a36b9119ab37f4f7dd6edaba8f43bd469a522f996ac22de89d7e194b839cfae459f452503c6e656b873aea7512d896fc98aca3d3bd56936b91d47c09d136b935cb7e3cea992aaa4094ce6768869c5647ecfc6e6db217aae3514dc39b1cd2d7a818018905a5dc3f2c59d3b41e5161d397e671819ce8610b72fab04fc3d1b545fdc97d51b72579b78a5e28b12006b7b0626e406433afb5716a619bce449719a645bd41a0a533598d8d047c8f8bb1aa070e4eba166003c549c8c1982d2038bd94b6e');
INSERT INTO body VALUES(2,X'28b52ffd4400ae014d09003254382050679d00a1e605d903962bf58345801c39ab89c620e4c00a56bb84e7cccc4a0553329d50345c20c907067dc355dcbae71142d170712855c402c8ad7e5e5a0dba7e7b3dd03360b5e7402036644d7c112f4f23f6c6ebb745f0796e1ebb5e8a0c2e62fbb970531e5933d48c79fe8022864e8b9cc70ebd1c8ce27a0eebe7765b8d7ee336c8f1f2540a40df0ce465e153e97b1f6b8f3566edf3fcdb0343e5fa8d2bf63399ae8ce3face13ec404e5fc80583be1976c651488f1b179c27f41d97d53ca723eafaa7d7f344f4bd51529e77b819ebfa75eb3da177b83d0ffd63d670114f0419008ead51c3f322cab300b456e0897b0626e406431afb5716a619bce449715a68dbc41b0f530b88d9d047c8b8eb30213519e4cd798e47f44c311e2e13f41e4018aa21bb3d839e985b');
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
CREATE INDEX occurrence_sig ON occurrence (sig);
CREATE VIEW sessions AS SELECT id, game, version, log,
	strftime('%Y-%m-%dT%H:%M:%SZ', began / 1000.0, 'unixepoch') AS began,
	strftime('%Y-%m-%dT%H:%M:%SZ', ended / 1000.0, 'unixepoch') AS ended,
	running, state, reason, headline, broken, sound, lines, records, mods
	FROM session;
CREATE VIEW occurrences AS SELECT o.session, s.game, s.ended, printf('%016x', b.signature) AS "group",
	printf('%016x', a.signature) AS signature, a.template, o.disposition, o.severity, o.rule, o.count,
	o.first AS first_line, o.last AS last_line, o.phase
	FROM occurrence o JOIN signature a ON a.id = o.sig JOIN signature b ON b.id = a.grp JOIN sessions s ON s.id = o.session;
CREATE VIEW groups AS SELECT b.game, printf('%016x', b.signature) AS signature, g.template, g.sessions, g.entries,
	strftime('%Y-%m-%dT%H:%M:%SZ', g.first / 1000.0, 'unixepoch') AS first_seen,
	strftime('%Y-%m-%dT%H:%M:%SZ', g.last / 1000.0, 'unixepoch') AS last_seen
	FROM (SELECT a.grp, max(a.template) AS template, count(DISTINCT o.session) AS sessions, sum(o.count) AS entries,
		min(s.ended) AS first, max(s.ended) AS last
		FROM occurrence o JOIN signature a ON a.id = o.sig JOIN session s ON s.id = o.session GROUP BY a.grp) g
	JOIN signature b ON b.id = g.grp;
CREATE VIEW mods AS SELECT s.id AS session, s.game, e.position, m.name, m.package, m.workshop, e.versions
	FROM session s JOIN modlist_entry e ON e.list = s.modlist JOIN mod m ON m.id = e.mod;
COMMIT;
PRAGMA application_id = 1751741300;
PRAGMA user_version = 1;
