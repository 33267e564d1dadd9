package history

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/cmd/internal/statefile"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// Remember stores a session that ended at a time, or that runs, and returns its number. A known log, or a copy of it,
// keeps its number: a longer log replaces the session, a log of equal length replaces the summary, and a shorter log
// changes nothing. A run that began after a session had ended is another session, also if it wrote the same log; a log
// that is read later belongs to the latest of them. If the history is full, the oldest sessions are forgotten, perhaps
// this session, too.
func (h *History) Remember(ctx context.Context, s *summary.Session, at time.Time, running bool) (id int64, err error) {
	err = h.write(ctx, func(t *tx) {
		known, longer := t.sameLog(s, running)
		if longer != 0 && !running {
			id = longer
			return
		}
		now := h.config.Now().UnixMilli()
		kept := &kept{ended: min(at.UnixMilli(), now), saved: now, live: running, running: running}
		if last := len(known) - 1; last >= 0 {
			kept.id = known[last]
			t.drop(known[:last])
			t.keep(kept, s.Log.Bytes, !s.Ended.IsZero())
		}
		t.put(kept, s)
		id = kept.id
		if running && t.err == nil {
			h.hold(id, true)
		}
		t.trim()
	})
	return id, err
}

// Update replaces a session that runs, or has just ended. A forgotten session is [ErrUnknown].
func (h *History) Update(ctx context.Context, id int64, s *summary.Session, at time.Time, running bool) error {
	return h.write(ctx, func(t *tx) {
		k := &kept{id: id, ended: at.UnixMilli(), saved: h.config.Now().UnixMilli(), live: true, running: running}
		if t.number(`SELECT count(*) FROM session WHERE id = ?`, id) == 0 {
			h.hold(id, false)
			t.fail(fmt.Errorf("%w: %d", ErrUnknown, id))
		}
		if !running {
			same, _ := t.sameLog(s, true)
			t.drop(slices.DeleteFunc(same, func(other int64) bool { return other == id }))
		}
		t.put(k, s)
		if t.err == nil {
			h.hold(id, running)
		}
		t.trim()
	})
}

// hold shows other processes that this one runs a session, as long as both last.
func (h *History) hold(id int64, running bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	lock, held := h.held[id]
	switch {
	case running && !held:
		if lock, err := statefile.Lock(h.heldBy(id)); err == nil { // a session needs no lock
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
	var running int64
	err = h.read(ctx, func(t *tx) { // this read waits for no lock
		running = t.number(`SELECT count(*) FROM session WHERE running`)
	})
	if err != nil || running == 0 {
		return nil, err
	}
	err = h.write(ctx, func(t *tx) {
		l := t.timeline("", true)
		for i := range l.sessions {
			if s := &l.sessions[i]; s.Running && h.dead(s.ID) {
				s.Running = false
				all = append(all, s.Session)
				t.exec(`UPDATE session SET running = 0 WHERE id = ?`, s.ID)
			}
		}
	})
	return all, err
}

// Which selects the sessions to forget: the sessions with these numbers, the sessions that ended before a time, or all.
type Which struct {
	IDs    []int64
	Before time.Time
	All    bool
}

// Forget forgets sessions, and returns how many. The file keeps nothing of them, and shrinks.
func (h *History) Forget(ctx context.Context, w Which) (n int, err error) {
	err = h.write(ctx, func(t *tx) {
		ids := t.numbers(`SELECT id FROM session WHERE ? OR ? AND ended < ?`, w.All, !w.Before.IsZero(),
			w.Before.UnixMilli())
		for _, id := range w.IDs {
			if t.number(`SELECT count(*) FROM session WHERE id = ?`, id) == 0 {
				t.fail(fmt.Errorf("%w: %d", ErrUnknown, id))
			}
			ids = append(ids, id)
		}
		slices.Sort(ids)
		ids = slices.Compact(ids)
		n = len(ids)
		t.drop(ids)
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

// kept are the values of a row that are not in the summary.
type kept struct {
	id            int64 // 0 for a new one
	began         *int64
	ended, saved  int64
	live, running bool
}

// keep restores values that a log of the same length does not change. A log with times of its own changes the end. A
// followed session stays live when another process reads its log.
func (t *tx) keep(k *kept, bytes uint64, timed bool) {
	var had kept
	var length int64
	t.each(func(scan func(...any)) {
		scan(&length, &k.began, &had.ended, &had.saved, &had.live, &had.running)
	}, `SELECT bytes, began, ended, saved, live, running FROM session WHERE id = ?`, k.id)
	if uint64(length) == bytes && !k.running && !timed {
		k.ended = had.ended
	}
	k.live, k.running = k.live || had.live, k.running || had.running
	if !k.live {
		k.saved = had.saved
	}
}

// sameLog returns the sessions of the log or of a shorter copy, and a session of a longer copy, or 0. The last is the
// session of the longest and latest copy, the others were read from files. A session without a read log matches no
// other session. A crashed session has no longer copy that did not crash. A live session that heed saw begin matches
// none that had ended.
func (t *tx) sameLog(s *summary.Session, live bool) (ids []int64, longer int64) {
	if s.Log.Bytes == 0 {
		return nil, 0
	}
	const crashed = "crashed"
	first := s.Log.Marks[:min(4, len(s.Log.Marks))]
	began := int64(math.MinInt64)
	if live && !s.Began.IsZero() {
		began = s.Began.UnixMilli()
	}
	run := false // the last of ids was live
	t.each(func(scan func(...any)) {
		var id, bytes, hash int64
		var isLive bool
		var known summary.Log
		var state string
		scan(&id, &bytes, &hash, &known.Marks, &state, &isLive)
		known.Bytes, known.Hash = uint64(bytes), summary.Hash(hash)
		switch same := known.Bytes == s.Log.Bytes; {
		case known.Begins(&s.Log) && (same || state != crashed || s.State == crashed):
			if run {
				ids = ids[:len(ids)-1]
			}
			ids, run = append(ids, id), isLive
		case s.Log.Begins(&known) && (s.State != crashed || state == crashed):
			longer = id
		}
	}, `SELECT id, bytes, hash, marks, state, live FROM session WHERE ended > ?4 AND (bytes = ?1 AND hash = ?2
		OR ?3 <> x'' AND substr(marks, 1, 4) = ?3) ORDER BY bytes, ended, id`, int64(s.Log.Bytes), int64(s.Log.Hash), first,
		began)
	return ids, longer
}

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
	for i := range s.Groups {
		g := &s.Groups[i]
		name, template := t.join(game, s.Signatures, slices.Concat([]signature.ID{g.Signature}, g.Members))
		if g.Template != "" && g.Template != template {
			t.exec(`UPDATE signature SET template = ? WHERE id = ?`, g.Template, name)
		}
		t.exec(`INSERT INTO occurrence VALUES (`+placeholders(9)+`)`, session, name, int64(g.Count),
			g.Disposition.String(), g.Severity.String(), g.Rule, int64(g.First), int64(g.Last), g.Phase)
	}
}

// join makes the groups of signatures one, and returns the id and the template of the first signature.
func (t *tx) join(game string, version int, sigs []signature.ID) (name int64, template string) {
	var groups []int64
	for i, sig := range sigs {
		id, group, text := t.signature(game, version, sig)
		if id == 0 {
			id = t.number(`INSERT INTO signature SELECT next, next, ?, ?, ?, ''
				FROM (SELECT coalesce(max(id), 0) + 1 AS next FROM signature) RETURNING id`, int64(sig), version, game)
			group = id
		}
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

// signature returns the id of a signature with its group and its template, an id of 0 for an unknown one.
func (t *tx) signature(game string, version int, sig signature.ID) (id, group int64, template string) {
	t.each(func(scan func(...any)) { scan(&id, &group, &template) },
		`SELECT id, grp, template FROM signature WHERE signature = ? AND version = ? AND game = ?`, int64(sig), version, game)
	return id, group, template
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
