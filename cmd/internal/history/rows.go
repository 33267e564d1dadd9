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
func (t *tx) put(k *kept, s *summary.Session) {
	if t.fail(s.Validate()); t.err != nil {
		return
	}
	slim := *s
	slim.Groups = slices.Clone(s.Groups)
	for i := range slim.Groups {
		slim.Groups[i].Template = "" // which the signature has
	}
	data, err := json.Marshal(&slim)
	if len(data) > maxBody {
		err = fmt.Errorf("the summary has %d bytes, of at most %d", len(data), maxBody)
	}
	t.fail(err)
	if !s.Began.IsZero() {
		ms := s.Began.UnixMilli()
		k.began = &ms
	}
	var id *int64
	if k.id != 0 {
		id = &k.id
	}
	game, version := summary.Game(s.Facts.Game)
	k.id = t.number(`INSERT OR REPLACE INTO session (id, game, version, log, bytes, hash, began, ended, live,
		running, saved, state, reason, headline, broken, sound, lines, records, signatures, modlist, mods, whole_mods, whole,
		masking, marks) VALUES (`+placeholders(25)+`) RETURNING id`,
		id, game, version, s.Log.Name, int64(s.Log.Bytes), int64(s.Log.Hash), k.began, k.ended, k.live, k.running, k.saved,
		s.State, s.Reason, s.Headline, s.Broken(), s.Sound(), s.Lines, int64(s.Records), s.Signatures, t.modlist(s.Mods),
		len(s.Mods), s.MoreMods == 0, s.Whole(), int64(s.Masking), append([]byte{}, s.Log.Marks...))
	t.exec(`INSERT OR REPLACE INTO body VALUES (?, ?)`, k.id, t.h.encode.EncodeAll(data, nil))
	t.putGroups(k.id, game, s)
	if id != nil && !k.running {
		t.prune()
	}
}

// modlist returns the number of a list of mods, which it keeps once; nil where none is listed.
func (t *tx) modlist(mods []capture.ListedMod) *int64 {
	if len(mods) == 0 {
		return nil
	}
	data, err := json.Marshal(mods)
	t.fail(err)
	digest := sha256.Sum256(data)
	if known := t.numbers(`SELECT id FROM modlist WHERE digest = ?`, digest[:]); len(known) > 0 {
		return &known[0]
	}
	id := t.number(`INSERT INTO modlist (digest) VALUES (?) RETURNING id`, digest[:])
	for i := range mods {
		m := &mods[i]
		mod := t.number(`INSERT INTO mod (key, name, package, workshop) VALUES (?, ?, ?, ?) ON CONFLICT (key) DO UPDATE
			SET name = iif(excluded.name = excluded.package, name, excluded.name), workshop = iif(excluded.workshop = '', workshop, excluded.workshop) RETURNING id`,
			modKey(m), m.Title(), m.PackageID, m.WorkshopID)
		t.exec(`INSERT OR IGNORE INTO modlist_entry VALUES (?, ?, ?, ?)`, id, mod, i, m.Versions)
	}
	return &id
}

// modKey returns the key that identifies a mod in all sessions.
func modKey(m *capture.ListedMod) string { return strings.ToLower(cmp.Or(m.PackageID, m.Name)) }

// putGroups replaces the groups of a session.
func (t *tx) putGroups(session int64, game string, s *summary.Session) {
	t.exec(`DELETE FROM occurrence WHERE session = ?`, session)
	find, err := t.PrepareContext(t.ctx, `SELECT id, grp, template FROM signature
		WHERE signature = ? AND version = ? AND game = ?`)
	if t.fail(err); err != nil {
		return
	}
	defer find.Close() //nolint:errcheck // the transaction ends it
	for i := range s.Groups {
		if t.err != nil {
			return
		}
		g := &s.Groups[i]
		name, template := t.join(find, game, s.Signatures, slices.Concat([]signature.ID{g.Signature}, g.Members))
		if g.Template != "" && g.Template != template {
			t.exec(`UPDATE signature SET template = ? WHERE id = ?`, g.Template, name)
		}
		t.exec(`INSERT INTO occurrence VALUES (`+placeholders(9)+`)`, session, name, int64(g.Count),
			g.Disposition.String(), g.Severity.String(), g.Rule, int64(g.First), int64(g.Last), g.Phase)
	}
}

// join makes the groups of signatures one, and returns the id and the template of the first signature.
func (t *tx) join(find *sql.Stmt, game string, version int, sigs []signature.ID) (name int64, template string) {
	var groups []int64
	for i, sig := range sigs {
		var id, group int64
		var text string
		err := find.QueryRowContext(t.ctx, int64(sig), version, game).Scan(&id, &group, &text)
		if errors.Is(err, sql.ErrNoRows) {
			id = t.number(`INSERT INTO signature SELECT next, next, ?, ?, ?, ''
				FROM (SELECT coalesce(max(id), 0) + 1 AS next FROM signature) RETURNING id`, int64(sig), version, game)
			group, err = id, nil
		}
		t.fail(err)
		if i == 0 {
			name, template = id, text
		}
		groups = append(groups, group)
	}
	first := slices.Min(groups)
	for _, other := range groups {
		if other != first {
			t.exec(`UPDATE signature SET grp = ? WHERE grp = ?`, first, other)
		}
	}
	return name, template
}

// drop forgets sessions.
func (t *tx) drop(ids []int64) {
	for _, id := range ids {
		t.exec(`DELETE FROM occurrence WHERE session = ?1; DELETE FROM body WHERE session = ?1;
			DELETE FROM session WHERE id = ?1`, id)
	}
	if len(ids) > 0 {
		t.prune()
	}
}

// prune removes templates and groups that no session has any more, lists of mods, and mods that no list has.
func (t *tx) prune() {
	t.exec(`UPDATE signature SET template = '' WHERE template <> '' AND id NOT IN (SELECT sig FROM occurrence);
		DELETE FROM signature WHERE grp NOT IN (SELECT s.grp FROM occurrence o JOIN signature s ON s.id = o.sig);
		DELETE FROM modlist WHERE NOT EXISTS (SELECT 1 FROM session WHERE modlist = modlist.id);
		DELETE FROM modlist_entry WHERE list NOT IN (SELECT id FROM modlist);
		DELETE FROM mod WHERE id NOT IN (SELECT mod FROM modlist_entry)`)
}

// trim forgets the oldest sessions where there are too many, in number or in bytes.
func (t *tx) trim() {
	for t.err == nil {
		n := t.number(`SELECT count(*) FROM session`)
		used := t.number(`SELECT (page_count - freelist_count) * page_size
			FROM pragma_page_count, pragma_freelist_count, pragma_page_size`)
		over := n - int64(t.h.config.MaxSessions)
		if over <= 0 && used > t.h.config.MaxBytes && n > 1 {
			over = max(1, n/200)
		}
		if over <= 0 {
			return
		}
		t.drop(t.numbers(`SELECT id FROM session ORDER BY ended, id LIMIT ?`, over))
	}
}
