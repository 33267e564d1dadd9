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
	if err := t.putGroups(k.id, game, s); err != nil || k.running || id == nil {
		return err
	}
	return t.prune()
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
	if err := t.exec(`DELETE FROM occurrence WHERE session = ?`, session); err != nil {
		return err
	}
	find, err := t.PrepareContext(t.ctx, `SELECT id, grp, template FROM signature
		WHERE signature = ? AND version = ? AND game = ?`)
	if err != nil {
		return err
	}
	defer find.Close() //nolint:errcheck // the transaction ends it
	for i := range s.Groups {
		g := &s.Groups[i]
		name, template, err := t.join(find, game, s.Signatures, slices.Concat([]signature.ID{g.Signature}, g.Members))
		if err == nil && g.Template != "" && g.Template != template {
			err = t.exec(`UPDATE signature SET template = ? WHERE id = ?`, g.Template, name)
		}
		if err != nil {
			return err
		}
		if err := t.exec(`INSERT INTO occurrence VALUES (`+placeholders(9)+`)`, session, name, int64(g.Count),
			g.Disposition.String(), g.Severity.String(), g.Rule, int64(g.First), int64(g.Last), g.Phase); err != nil {
			return err
		}
	}
	return nil
}

// join makes the groups of signatures one, and returns the id and the template of the first signature.
func (t *tx) join(find *sql.Stmt, game string, version int, sigs []signature.ID) (
	name int64, template string, err error,
) {
	var groups []int64
	for i, sig := range sigs {
		var id, group int64
		var text string
		err := find.QueryRowContext(t.ctx, int64(sig), version, game).Scan(&id, &group, &text)
		if errors.Is(err, sql.ErrNoRows) {
			id, err = t.number(`INSERT INTO signature SELECT next, next, ?, ?, ?, ''
				FROM (SELECT coalesce(max(id), 0) + 1 AS next FROM signature) RETURNING id`, int64(sig), version, game)
			group = id
		}
		if err != nil {
			return 0, "", err
		}
		if i == 0 {
			name, template = id, text
		}
		groups = append(groups, group)
	}
	first := slices.Min(groups)
	for _, other := range groups {
		if other != first {
			err = cmp.Or(err, t.exec(`UPDATE signature SET grp = ? WHERE grp = ?`, first, other))
		}
	}
	return name, template, err
}

// drop forgets sessions.
func (t *tx) drop(ids []int64) error {
	for _, id := range ids {
		if err := t.exec(`DELETE FROM occurrence WHERE session = ?1; DELETE FROM body WHERE session = ?1;
			DELETE FROM session WHERE id = ?1`, id); err != nil {
			return err
		}
	}
	if len(ids) == 0 {
		return nil
	}
	return t.prune()
}

// prune removes templates and groups that no session has any more, lists of mods, and mods that no list has.
func (t *tx) prune() error {
	return t.exec(`UPDATE signature SET template = '' WHERE template <> '' AND id NOT IN (SELECT sig FROM occurrence);
		DELETE FROM signature WHERE grp NOT IN (SELECT s.grp FROM occurrence o JOIN signature s ON s.id = o.sig);
		DELETE FROM modlist WHERE NOT EXISTS (SELECT 1 FROM session WHERE modlist = modlist.id);
		DELETE FROM modlist_entry WHERE list NOT IN (SELECT id FROM modlist);
		DELETE FROM mod WHERE id NOT IN (SELECT mod FROM modlist_entry)`)
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
