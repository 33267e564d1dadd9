ALTER TABLE session ADD COLUMN masking INTEGER NOT NULL DEFAULT 0; -- of the rules, on which ids depend; 0: not known
ALTER TABLE session ADD COLUMN marks BLOB NOT NULL DEFAULT x''; -- of the log
DROP INDEX occurrence_sig;
CREATE INDEX occurrence_sig ON occurrence (sig, session, count);
DROP VIEW occurrences;
DROP VIEW groups;
CREATE VIEW occurrences AS SELECT o.session, s.game, s.ended, printf('%016x', b.signature) AS "group",
	printf('%016x', a.signature) AS signature, a.template, o.disposition, o.severity, o.rule, o.count,
	o.first AS first_line, o.last AS last_line, o.phase
	FROM sessions s CROSS JOIN occurrence o ON o.session = s.id -- in the order of its rows
	JOIN signature a ON a.id = o.sig JOIN signature b ON b.id = a.grp;
CREATE VIEW groups AS SELECT b.game, printf('%016x', b.signature) AS signature, max(a.template) AS template,
	iif(count(*) = 1, sum(o.sessions), (SELECT count(DISTINCT p.session) FROM signature c JOIN occurrence p ON p.sig = c.id
		WHERE c.grp = b.id)) AS sessions, sum(o.entries) AS entries,
	strftime('%Y-%m-%dT%H:%M:%SZ', min(o.first) / 1000.0, 'unixepoch') AS first_seen,
	strftime('%Y-%m-%dT%H:%M:%SZ', max(o.last) / 1000.0, 'unixepoch') AS last_seen
	FROM (SELECT o.sig, count(*) AS sessions, sum(o.count) AS entries, min(s.ended) AS first, max(s.ended) AS last
		FROM occurrence o CROSS JOIN session s ON s.id = o.session GROUP BY o.sig) o
	JOIN signature a ON a.id = o.sig JOIN signature b ON b.id = a.grp GROUP BY b.id;
