package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// Known returns one line about a group of a session: its first session, the changes then, and the number of sessions
// with and without it. It returns "" for an unknown group. The session need not be remembered, nor complete: its game,
// its mods, its end, the inputs of its ids, and the signatures of the group count. Names of mods are untrusted text.
// A language maps English texts to the texts of the reader; without one, the line is English.
func (h *History) Known(ctx context.Context, s *summary.Session, group signature.ID, language ...map[string]string) (
	text string, err error,
) {
	game, _ := summary.Game(s.Facts.Game)
	sigs := []signature.ID{group}
	if i := slices.IndexFunc(s.Groups, func(g summary.Group) bool { return g.Signature == group }); i >= 0 {
		sigs = append(sigs, s.Groups[i].Members...)
	}
	if game == "" {
		return "", nil // sessions of games that are not known may be of several
	}
	err = h.read(ctx, func(t *tx) {
		l := t.timeline(game, false)
		counts := t.occurrences(t.groupOf(game, s.Signatures, sigs))
		if len(language) > 0 {
			l.say = func(english string, args ...any) string {
				return fmt.Sprintf(cmp.Or(language[0][english], english), args...)
			}
		}
		l.narrow(counts, ids{s.Signatures, int64(s.Masking)})
		switch {
		case len(l.sessions) == 0:
		case len(l.sessions) == 1 && len(counts) == 1: // nothing to compare
		case len(counts) == 0:
			text = l.unknown(s)
		default:
			text = l.known(counts)
		}
	})
	return text, err
}

// unknown returns since when sessions lack a group, and the changes since then.
func (l *timeline) unknown(now *summary.Session) string {
	if !now.Ended.IsZero() {
		l.sessions = slices.DeleteFunc(l.sessions, func(s session) bool { return s.Ended.After(now.Ended) })
	}
	if len(l.sessions) == 0 {
		return ""
	}
	text := l.say("new: %s since %s", l.noneOf(len(l.sessions)), l.date(l.sessions[0].Ended))
	i := lastIndex(l.sessions, func(s *session) bool { return s.list != 0 && s.wholeMods })
	if i < 0 || len(now.Mods) == 0 || now.MoreMods > 0 {
		return text
	}
	var mods []listedMod
	for n := range now.Mods {
		m := &now.Mods[n]
		id := cmp.Or(l.number(`SELECT id FROM mod WHERE key = ?`, modKey(m)), -int64(n)-1) // which no mod has
		l.names[id] = m.Title()
		mods = append(mods, listedMod{id, m.Versions})
	}
	c := &Changes{}
	l.compare(c, mods, l.sessions[:i+1])
	if c.count() > 0 {
		text += l.say("; since the last one %s", c.words(l.say))
	}
	return text
}

// known returns the suspects of a group, and since when it is there.
func (l *timeline) known(counts map[int64]int64) string {
	has := func(s *session) bool { _, ok := counts[s.ID]; return ok }
	first, last := 0, lastIndex(l.sessions, has)
	for !has(&l.sessions[first]) {
		first++
	}
	s := &l.sessions[first]
	var text string
	var since cohort.Table // of the sessions from the first one with the group on, and before
	if first == 0 {
		which := l.say("the first session of the game that is remembered")
		if l.all[0].ID != s.ID {
			which = l.say("the first session that shows whether it is there")
		}
		text = l.say("known since %s, %s; in %d of %d sessions", l.date(s.Ended), which, len(counts), len(l.sessions))
	} else {
		c := l.changes(s, l.sessions[:first])
		text = l.say("new since %s", l.date(s.Ended))
		if c != nil && c.count() > 0 {
			changes, last := c.words(l.say), &l.sessions[first-1]
			if at := slices.IndexFunc(l.all, func(o session) bool { return o.ID == s.ID }); l.all[at-1].ID == last.ID {
				text += l.say(", when %s", changes)
			} else {
				text += l.say("; since %s, when it was not there, %s", l.date(last.Ended), changes)
			}
		}
		since = cohort.Table{
			With: uint64(len(l.sessions) - first), WithFault: uint64(len(counts)), Without: uint64(first),
		}
	}
	suspects := l.suspects(s.Game, counts)
	who := suspects.InShort(l.say)
	if since.Without > 0 && (who == "" || suspects.Table != since) { // once is enough
		english := "; %d of %d sessions since, 0 of %d before"
		if since.With == 1 {
			english = "; %d of %d session since, 0 of %d before"
		}
		text += l.say(english, len(counts), since.With, first)
	}
	if who != "" {
		text = who + l.say("; ") + text
	}
	if after := len(l.sessions) - 1 - last; after > 0 {
		text += l.say("; last on %s, %s since", l.date(l.sessions[last].Ended), l.noneOf(after))
	}
	return text
}

// noneOf reports that a group was in none of so many sessions.
func (l *timeline) noneOf(sessions int) string {
	if sessions == 1 {
		return l.say("not in the one session")
	}
	return l.say("in none of %d sessions", sessions)
}

// date returns a day in words, with its year where that is not this one.
func (l *timeline) date(t time.Time) string {
	if t.Year() == l.h.config.Now().Year() {
		return t.Format(l.say("2 January"))
	}
	return t.Format(l.say("2 January 2006"))
}
