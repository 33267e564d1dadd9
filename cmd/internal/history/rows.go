package history

import (
	"cmp"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// put writes a session, and gives a new one its number.
func (t *tx) put(k *kept, s *summary.Session) error {
	if err := s.Validate(); err != nil {
		return err
	}
	slim := *s
	slim.Groups = slices.Clone(s.Groups)
	for i := range slim.Groups {
		slim.Groups[i].Template = "" // which the signature has
	}
	data, err := json.Marshal(&slim)
	if err == nil && len(data) > maxBody {
		err = fmt.Errorf("the summary has %d bytes, of at most %d", len(data), maxBody)
	}
	if err != nil {
		return err
	}
	list, err := t.modlist(s.Mods)
	if err != nil {
		return err
	}
	if !s.Began.IsZero() {
		ms := s.Began.UnixMilli()
		k.began = &ms
	}
	var id *int64
	if k.id != 0 {
		id = &k.id
	}
	game, version := summary.Game(s.Facts.Game)
	if k.id, err = t.number(`INSERT OR REPLACE INTO session (id, game, version, log, bytes, hash, began, ended, live,
		running, saved, state, reason, headline, broken, sound, lines, records, signatures, modlist, mods, whole_mods, whole,
		masking, marks) VALUES (`+placeholders(25)+`) RETURNING id`,
		id, game, version, s.Log.Name, int64(s.Log.Bytes), int64(s.Log.Hash), k.began, k.ended, k.live, k.running, k.saved,
		s.State, s.Reason, s.Headline, s.Broken(), s.Sound(), s.Lines, int64(s.Records), s.Signatures, list,
		len(s.Mods), s.MoreMods == 0, s.Whole(), int64(s.Masking), append([]byte{}, s.Log.Marks...)); err != nil {
		return err
	}
	if err := t.exec(`INSERT OR REPLACE INTO body VALUES (?, ?)`, k.id, t.h.encode.EncodeAll(data, nil)); err != nil {
		return err
	}
	if err := t.pruneMods(); err != nil {
		return err
	}
	return t.putGroups(k.id, game, s)
}

// modlist returns the number of a list of mods, which it keeps once; nil where none is listed.
func (t *tx) modlist(mods []capture.ListedMod) (*int64, error) {
	if len(mods) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(mods)
	if err != nil {
		return nil, err
	}
	digest := sha256.Sum256(data)
	id, err := t.number(`SELECT id FROM modlist WHERE digest = ?`, digest[:])
	if !errors.Is(err, sql.ErrNoRows) {
		return &id, err
	}
	if id, err = t.number(`INSERT INTO modlist (digest) VALUES (?) RETURNING id`, digest[:]); err != nil {
		return nil, err
	}
	for i := range mods {
		m := &mods[i]
		mod, err := t.number(`INSERT INTO mod (key, name, package, workshop) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
			SET name = iif(excluded.name = excluded.package, name, excluded.name), workshop = iif(excluded.workshop = '', workshop, excluded.workshop) RETURNING id`,
			modKey(m), m.Title(), m.PackageID, m.WorkshopID)
		if err != nil {
			return nil, err
		}
		if err := t.exec(`INSERT OR IGNORE INTO modlist_entry VALUES (?, ?, ?, ?)`, id, mod, i, m.Versions); err != nil {
			return nil, err
		}
	}
	return &id, nil
}

// modKey returns the key that identifies a mod in all sessions.
func modKey(m *capture.ListedMod) string { return strings.ToLower(cmp.Or(m.PackageID, m.Name)) }

// putGroups replaces the groups of a session.
func (t *tx) putGroups(session int64, game string, s *summary.Session) error {
	before, err := t.numbers(`DELETE FROM occurrence WHERE session = ? RETURNING sig`, session)
	if err != nil {
		return err
	}
	next, err := t.number(`SELECT coalesce(max(id), 0) + 1 FROM signature`)
	if err != nil {
		return err
	}
	w := groupWriter{tx: t, session: session, game: game, version: s.Signatures, next: next, after: map[int64]bool{}}
	for query, stmt := range map[string]**sql.Stmt{
		`SELECT id, grp, template FROM signature WHERE signature = ? AND version = ? AND game = ?`: &w.find,
		`INSERT INTO signature VALUES (?, ?, ?, ?, ?, '')`:                                         &w.insert,
		`INSERT INTO occurrence VALUES (` + placeholders(9) + `)`:                                  &w.occur,
	} {
		if *stmt, err = t.PrepareContext(t.ctx, query); err != nil {
			return err
		}
		defer (*stmt).Close() //nolint:errcheck // the transaction ends it
	}
	for i := range s.Groups {
		if err := w.put(&s.Groups[i]); err != nil {
			return err
		}
	}
	return t.pruneSignatures(slices.DeleteFunc(before, func(sig int64) bool { return w.after[sig] }))
}

// groupWriter writes groups of a session.
type groupWriter struct {
	*tx
	session, next       int64
	game                string
	version             int
	find, insert, occur *sql.Stmt
	after               map[int64]bool // the signatures that name groups
}

// put writes a group, and joins with it the groups that its signatures are of.
func (w *groupWriter) put(g *summary.Group) error {
	var missing []int64
	var groups []int64
	name, template := w.next, "" // the signature that names it
	for i, member := range slices.Concat([]signature.ID{g.Signature}, g.Members) {
		sig := int64(member)
		var id, group int64
		var text string
		switch err := w.find.QueryRowContext(w.ctx, sig, w.version, w.game).Scan(&id, &group, &text); {
		case errors.Is(err, sql.ErrNoRows):
			if !slices.Contains(missing, sig) {
				missing = append(missing, sig)
			}
			continue
		case err != nil:
			return err
		}
		if i == 0 {
			name, template = id, text
		}
		groups = append(groups, group)
	}
	slices.Sort(groups)
	groups = slices.Compact(append(groups, w.next))
	for _, other := range groups[1:] {
		if other == w.next {
			continue
		}
		if err := w.exec(`UPDATE signature SET grp = ? WHERE grp = ?`, groups[0], other); err != nil {
			return err
		}
	}
	for _, sig := range missing {
		if _, err := w.insert.ExecContext(w.ctx, w.next, groups[0], sig, w.version, w.game); err != nil {
			return err
		}
		w.next++
	}
	if g.Template != "" && g.Template != template {
		if err := w.exec(`UPDATE signature SET template = ? WHERE id = ?`, g.Template, name); err != nil {
			return err
		}
	}
	w.after[name] = true
	_, err := w.occur.ExecContext(w.ctx, w.session, name, int64(g.Count), g.Disposition.String(), g.Severity.String(),
		g.Rule, int64(g.First), int64(g.Last), g.Phase)
	return err
}

// drop forgets sessions.
func (t *tx) drop(ids []int64) error {
	var signatures []int64
	for _, id := range ids {
		gone, err := t.numbers(`DELETE FROM occurrence WHERE session = ? RETURNING sig`, id)
		if err != nil {
			return err
		}
		signatures = append(signatures, gone...)
		if err := t.exec(`DELETE FROM body WHERE session = ?`, id); err != nil {
			return err
		}
		if err := t.exec(`DELETE FROM session WHERE id = ?`, id); err != nil {
			return err
		}
	}
	if err := t.pruneMods(); err != nil {
		return err
	}
	return t.pruneSignatures(signatures)
}

// pruneSignatures removes templates of signatures without a session, and groups without a session.
func (t *tx) pruneSignatures(ids []int64) error {
	slices.Sort(ids)
	var groups []int64
	for _, id := range slices.Compact(ids) {
		gone, err := t.numbers(`UPDATE signature SET template = '' WHERE id = ?1
			AND NOT EXISTS (SELECT 1 FROM occurrence WHERE sig = ?1) RETURNING grp`, id)
		if err != nil {
			return err
		}
		groups = append(groups, gone...)
	}
	slices.Sort(groups)
	for _, group := range slices.Compact(groups) {
		if err := t.exec(`DELETE FROM signature WHERE grp = ?1 AND NOT EXISTS
			(SELECT 1 FROM signature s JOIN occurrence o ON o.sig = s.id WHERE s.grp = ?1)`, group); err != nil {
			return err
		}
	}
	return nil
}

// pruneMods removes lists of mods that no session has any more, and mods that no list has.
func (t *tx) pruneMods() error {
	lists, err := t.numbers(`DELETE FROM modlist WHERE NOT EXISTS
		(SELECT 1 FROM session WHERE modlist = modlist.id) RETURNING id`)
	if err != nil || len(lists) == 0 {
		return err
	}
	for _, list := range lists {
		if err := t.exec(`DELETE FROM modlist_entry WHERE list = ?`, list); err != nil {
			return err
		}
	}
	return t.exec(`DELETE FROM mod WHERE id NOT IN (SELECT mod FROM modlist_entry)`)
}

// trim forgets the oldest sessions where there are too many, in number or in bytes.
func (t *tx) trim() error {
	for {
		n, err := t.number(`SELECT count(*) FROM session`)
		if err != nil {
			return err
		}
		used, err := t.number(`SELECT (page_count - freelist_count) * page_size
			FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
		if err != nil {
			return err
		}
		over := n - int64(t.h.config.MaxSessions)
		if over <= 0 && used > t.h.config.MaxBytes && n > 1 {
			over = max(1, n/200)
		}
		if over <= 0 {
			return nil
		}
		ids, err := t.numbers(`SELECT id FROM session ORDER BY ended, id LIMIT ?`, over)
		if err == nil {
			err = t.drop(ids)
		}
		if err != nil {
			return err
		}
	}
}
