package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/statefile"
	"github.com/heedlog/heed/summary"
)

// Remember keeps a session that ended at a time as far as is known, or that runs, and returns its number. A log that is
// known, or a copy of which is, keeps its number: what is longer replaces all of it, what is as long the summary alone,
// and what is shorter nothing. Where the history is full, the oldest sessions are forgotten, which may be this one.
func (h *History) Remember(ctx context.Context, s *summary.Session, at time.Time, running bool) (id int64, err error) {
	err = h.write(ctx, func(t *tx) error {
		known, longer, err := t.sameLog(s)
		if err != nil {
			return err
		}
		if longer != 0 && !running {
			id = longer
			return nil
		}
		now := h.config.Now().UnixMilli()
		kept := &kept{ended: min(at.UnixMilli(), now), saved: now, live: running, running: running}
		if len(known) > 0 {
			kept.id = known[0]
			if err := t.drop(known[1:]); err != nil {
				return err
			}
			if err := t.keep(kept, s.Log.Bytes); err != nil {
				return err
			}
		}
		if err := t.put(kept, s); err != nil {
			return err
		}
		id = kept.id
		if running {
			h.hold(id, true)
		}
		return t.trim()
	})
	return id, err
}

// Update replaces what is known of a session that runs, or has just ended. A session that was forgotten is
// [ErrUnknown].
func (h *History) Update(ctx context.Context, id int64, s *summary.Session, at time.Time, running bool) error {
	return h.write(ctx, func(t *tx) error {
		k := &kept{id: id, ended: at.UnixMilli(), saved: h.config.Now().UnixMilli(), live: true, running: running}
		if n, err := t.number(`SELECT count(*) FROM session WHERE id = ?`, id); err != nil || n == 0 {
			return cmp.Or(err, fmt.Errorf("%w: %d", ErrUnknown, id))
		}
		if err := t.put(k, s); err != nil {
			return err
		}
		h.hold(id, running)
		return t.trim()
	})
}

// hold shows other processes that this one runs a session, as long as both last.
func (h *History) hold(id int64, running bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	lock, held := h.held[id]
	switch {
	case running && !held:
		if lock, err := statefile.Lock(h.heldBy(id)); err == nil { // without locks a session is kept all the same
			h.held[id] = lock
		}
	case !running && held:
		_, _ = lock.Close(), os.Remove(h.heldBy(id)) // no other session gets the number
		delete(h.held, id)
	}
}

func (h *History) heldBy(id int64) string {
	return fmt.Sprintf("%s.session-%d.lock", h.config.Path, id)
}

// dead reports whether no process runs a session any more.
func (h *History) dead(id int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held[id] != nil {
		return false
	}
	lock, err := statefile.Lock(h.heldBy(id))
	if errors.Is(err, statefile.ErrLocked) {
		return false
	}
	if err == nil {
		_, _ = lock.Close(), os.Remove(h.heldBy(id))
	}
	return true
}

// Unfinished returns the sessions that ran when their process ended: heed was killed, or the machine. They count as
// ended from then on, at their last update.
func (h *History) Unfinished(ctx context.Context) (all []Session, err error) {
	err = h.write(ctx, func(t *tx) error {
		running, err := t.number(`SELECT count(*) FROM session WHERE running`)
		if err != nil || running == 0 {
			return err
		}
		l, err := t.timeline("", true)
		if err != nil {
			return err
		}
		for i := range l.sessions {
			if s := &l.sessions[i]; s.Running && h.dead(s.ID) {
				s.Running = false
				all = append(all, s.Session)
				if err := t.exec(`UPDATE session SET running = 0 WHERE id = ?`, s.ID); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return all, err
}

// Which is what to forget: the sessions with these numbers, those that ended before a time, or all.
type Which struct {
	IDs    []int64
	Before time.Time
	All    bool
}

// Forget forgets sessions, and returns how many. The file keeps nothing of them, and shrinks.
func (h *History) Forget(ctx context.Context, w Which) (n int, err error) {
	err = h.write(ctx, func(t *tx) error {
		ids, err := t.numbers(`SELECT id FROM session WHERE ? OR ? AND ended < ?`, w.All, !w.Before.IsZero(),
			w.Before.UnixMilli())
		if err != nil {
			return err
		}
		for _, id := range w.IDs {
			known, err := t.number(`SELECT count(*) FROM session WHERE id = ?`, id)
			switch {
			case err != nil:
				return err
			case known == 0:
				return fmt.Errorf("%w: %d", ErrUnknown, id)
			}
			ids = append(ids, id)
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		n = len(ids)
		return t.drop(ids)
	})
	if err != nil || n == 0 {
		return 0, err
	}
	if _, err := h.db.ExecContext(ctx, `VACUUM`); err != nil {
		return n, h.wrap(fmt.Errorf("%d sessions are forgotten, but the file did not shrink: %w", n, err))
	}
	var busy, pages, moved int
	err = h.db.QueryRowContext(ctx, `PRAGMA wal_checkpoint(TRUNCATE)`).Scan(&busy, &pages, &moved)
	if err == nil && busy != 0 {
		err = errors.New("another process reads it")
	}
	if err != nil {
		err = fmt.Errorf("%d sessions are forgotten, but the file still has their text: %w", n, err)
	}
	return n, h.wrap(err)
}

// kept is what a row has beside the summary.
type kept struct {
	id            int64 // 0 for a new one
	began         *int64
	ended, saved  int64
	live, running bool
}

// keep leaves what a log of the same length does not change as it is. That heed follows a log is not over when another
// reads it.
func (t *tx) keep(k *kept, bytes uint64) error {
	var had kept
	var length int64
	err := t.QueryRowContext(t.ctx, `SELECT bytes, began, ended, saved, live, running FROM session WHERE id = ?`, k.id).
		Scan(&length, &k.began, &had.ended, &had.saved, &had.live, &had.running)
	if uint64(length) == bytes && !k.running {
		k.ended = had.ended
	}
	k.live, k.running = k.live || had.live, k.running || had.running
	if !k.live {
		k.saved = had.saved
	}
	return err
}

// sameLog returns the sessions of the log or of a shorter copy of it, by number, and one of a longer copy, 0 for none.
// A session of whose log nothing was read is not another one of that kind, and one that crashed has no longer copy that
// did not.
func (t *tx) sameLog(s *summary.Session) (ids []int64, longer int64, err error) {
	if s.Log.Bytes == 0 {
		return nil, 0, nil
	}
	const crashed = "crashed"
	first := s.Log.Marks[:min(4, len(s.Log.Marks))]
	err = t.each(func(scan func(...any) error) error {
		var id, bytes, hash int64
		var known summary.Log
		var state string
		err := scan(&id, &bytes, &hash, &known.Marks, &state)
		known.Bytes, known.Hash = uint64(bytes), summary.Hash(hash)
		switch same := known.Bytes == s.Log.Bytes; {
		case known.Begins(&s.Log) && (same || state != crashed || s.State == crashed):
			ids = append(ids, id)
		case s.Log.Begins(&known) && (s.State != crashed || state == crashed):
			longer = id
		}
		return err
	}, `SELECT id, bytes, hash, marks, state FROM session WHERE bytes = ?1 AND hash = ?2
		OR ?3 <> x'' AND substr(marks, 1, 4) = ?3 ORDER BY id`, int64(s.Log.Bytes), int64(s.Log.Hash), first)
	return ids, longer, err
}

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
	var id, was *int64
	if k.id != 0 {
		id = &k.id
		err := t.QueryRowContext(t.ctx, `SELECT modlist FROM session WHERE id = ?`, k.id).Scan(&was)
		if err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
	}
	game, version := summary.Game(s.Facts.Game)
	if k.id, err = t.number(`INSERT OR REPLACE INTO session VALUES (`+placeholders(25)+`) RETURNING id`,
		id, game, version, s.Log.Name, int64(s.Log.Bytes), int64(s.Log.Hash), k.began, k.ended, k.live, k.running, k.saved,
		s.State, s.Reason, s.Headline, s.Broken(), s.Sound(), s.Lines, int64(s.Records), s.Signatures, list,
		len(s.Mods), s.MoreMods == 0, s.Whole(), int64(s.Masking), append([]byte{}, s.Log.Marks...)); err != nil {
		return err
	}
	if err := t.exec(`INSERT OR REPLACE INTO body VALUES (?, ?)`, k.id, t.h.encode.EncodeAll(data, nil)); err != nil {
		return err
	}
	if was != nil {
		if err := t.pruneMods([]int64{*was}); err != nil {
			return err
		}
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

// modKey is by what a mod is the same in two sessions.
func modKey(m *capture.ListedMod) string { return strings.ToLower(cmp.Or(m.PackageID, m.Name)) }

// putGroups writes the groups of a session in the place of those that it had.
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
	for i := -1; i < len(g.Members); i++ {
		sig := int64(g.Signature)
		if i >= 0 {
			sig = int64(g.Members[i])
		}
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
		if i < 0 {
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
	var signatures, lists []int64
	for _, id := range ids {
		gone, err := t.numbers(`DELETE FROM occurrence WHERE session = ? RETURNING sig`, id)
		if err != nil {
			return err
		}
		signatures = append(signatures, gone...)
		if err := t.exec(`DELETE FROM body WHERE session = ?`, id); err != nil {
			return err
		}
		list, err := t.numbers(`DELETE FROM session WHERE id = ? RETURNING coalesce(modlist, 0)`, id)
		if err != nil {
			return err
		}
		lists = append(lists, list...)
	}
	if err := t.pruneMods(lists); err != nil {
		return err
	}
	return t.pruneSignatures(signatures)
}

// pruneSignatures removes the templates of signatures that no session has any more, and groups of which no session has
// any.
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
func (t *tx) pruneMods(lists []int64) error {
	slices.Sort(lists)
	pruned := false
	for _, list := range slices.Compact(lists) {
		gone, err := t.numbers(`DELETE FROM modlist WHERE id = ?1
			AND NOT EXISTS (SELECT 1 FROM session WHERE modlist = ?1) RETURNING id`, list)
		if err != nil {
			return err
		}
		if len(gone) > 0 {
			pruned = true
			if err := t.exec(`DELETE FROM modlist_entry WHERE list = ?`, list); err != nil {
				return err
			}
		}
	}
	if !pruned {
		return nil
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
		var used int64
		err = t.QueryRowContext(t.ctx, `SELECT (page_count - freelist_count) * page_size
			FROM pragma_page_count, pragma_freelist_count, pragma_page_size`).Scan(&used)
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
