CREATE TABLE modlist (
	id     INTEGER PRIMARY KEY,
	digest BLOB NOT NULL UNIQUE -- SHA-256 of the mods as JSON
) STRICT;
CREATE TABLE mod (
	id       INTEGER PRIMARY KEY,
	key      TEXT NOT NULL UNIQUE, -- the package id or else the name, in small letters
	name     TEXT NOT NULL,
	package  TEXT NOT NULL,
	workshop TEXT NOT NULL
) STRICT;
CREATE TABLE modlist_entry (
	list     INTEGER NOT NULL,
	mod      INTEGER NOT NULL,
	position INTEGER NOT NULL,
	versions TEXT NOT NULL,
	PRIMARY KEY (list, mod)
) STRICT, WITHOUT ROWID;
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
CREATE INDEX session_log ON session (bytes, hash);
CREATE INDEX session_ended ON session (ended, id);
CREATE INDEX session_modlist ON session (modlist);
CREATE TABLE body (
	session INTEGER PRIMARY KEY,
	data    BLOB NOT NULL -- summary.Session without templates, as JSON, compressed with zstd
) STRICT;
CREATE TABLE signature (
	id        INTEGER PRIMARY KEY,
	grp       INTEGER NOT NULL, -- the id of one of its group
	signature INTEGER NOT NULL,
	version   INTEGER NOT NULL,
	game      TEXT NOT NULL,
	template  TEXT NOT NULL, -- '' where it names no group of a session
	UNIQUE (signature, version, game)
) STRICT;
CREATE INDEX signature_grp ON signature (grp);
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
