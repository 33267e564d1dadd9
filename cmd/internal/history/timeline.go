package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// Session is an entry of a list of sessions.
type Session struct {
	ID       int64     `json:"id" jsonschema:"Its number, which no other session gets."`
	Game     string    `json:"game" jsonschema:"The game without its version; empty where it is not known."`
	Version  string    `json:"version,omitempty" jsonschema:"The version of the game."`
	Log      string    `json:"log" jsonschema:"The name of its log, without folders."`
	Began    time.Time `json:"began,omitzero" jsonschema:"When it began, as its log shows."`
	Ended    time.Time `json:"ended" jsonschema:"When it ended, as far as is known."`
	Live     bool      `json:"live,omitempty" jsonschema:"heed was there as it ran."`
	Running  bool      `json:"running,omitempty" jsonschema:"It runs, or ended without notice."`
	Saved    time.Time `json:"saved" jsonschema:"When heed kept it last."`
	State    string    `json:"state" jsonschema:"How it fared, as the verdict of a replay says."`
	Reason   string    `json:"reason,omitempty" jsonschema:"The reason of a crash."`
	Headline string    `json:"headline" jsonschema:"The verdict in one line."`
	Broken   bool      `json:"broken" jsonschema:"Something broke."`
	Sound    bool      `json:"sound" jsonschema:"Nothing broke, and the log shows all of it."`
	Lines    int64     `json:"lines" jsonschema:"Lines of its log."`
	Records  int64     `json:"records" jsonschema:"Records of its log."`
	Mods     int64     `json:"mods" jsonschema:"Mods that its log lists; 0 for none, or no list."`
	Changes  *Changes  `json:"changes,omitempty" jsonschema:"What changed since the session of the game before."`
}

// maxLength bounds the length of a session: a clock that was set during a session makes it longer.
const maxLength = 60 * 24 * time.Hour

// Length is how long the session was, 0 where its log has no times, or no credible ones.
func (s *Session) Length() time.Duration {
	if length := s.Ended.Sub(s.Began); !s.Began.IsZero() && length > 0 && length < maxLength {
		return length
	}
	return 0
}

// Changes are the differences between a session and the sessions of its game before it.
type Changes struct {
	From    string   `json:"from,omitempty" jsonschema:"The version of the game before; with to, where it changed."`
	To      string   `json:"to,omitempty" jsonschema:"The version of the game."`
	Added   []string `json:"added,omitempty" jsonschema:"Mods that came, by name."`
	Removed []string `json:"removed,omitempty" jsonschema:"Mods that went."`
	Updated []string `json:"updated,omitempty" jsonschema:"Mods whose versions changed, where both are known."`
	Since   int64    `json:"since,omitempty" jsonschema:"The number of the session that it is compared with."`

	versions [2]string // the versions of the first updated mod, before and after
}

func (c *Changes) count() int {
	n := len(c.Added) + len(c.Removed) + len(c.Updated)
	if c.To != "" {
		n++
	}
	return n
}

// maxNamed bounds the mods that String names of each kind. If there are more than maxListed changes, String names no
// mods.
const (
	maxNamed  = 3
	maxListed = 12
)

// String returns the changes in words, "nothing" where there are none. Names are untrusted text.
func (c *Changes) String() string {
	if c == nil || c.count() == 0 {
		return "nothing"
	}
	return c.words(fmt.Sprintf)
}

// words returns the changes, at least one.
func (c *Changes) words(say cohort.Say) string {
	var parts []string
	for _, kind := range []struct {
		names     []string
		one, many string
		versions  []any // of one
	}{
		{c.Added, "%s was added", "%s were added", nil},
		{c.Removed, "%s was removed", "%s were removed", nil},
		{c.Updated, "%s went from %s to %s", "%s changed their versions", []any{c.versions[0], c.versions[1]}},
	} {
		switch n := len(kind.names); {
		case n == 0:
		case n > 1 && c.count() > maxListed:
			parts = append(parts, say(kind.many, say("%d mods", n)))
		case n > 1:
			parts = append(parts, say(kind.many, listed(kind.names[:min(n, maxNamed)], n, say)))
		default:
			parts = append(parts, say(kind.one, slices.Concat([]any{kind.names[0]}, kind.versions)...))
		}
	}
	if c.To != "" {
		parts = append(parts, say("the game went from %s to %s", c.From, c.To))
	}
	return listed(parts, len(parts), say)
}

// listed joins names, and the number of others up to total.
func listed(names []string, total int, say cohort.Say) string {
	last := len(names) - 1
	switch more := total - len(names); {
	case more == 1:
		return say("%s and %d other", strings.Join(names, say(", ")), more)
	case more > 1:
		return say("%s and %d others", strings.Join(names, say(", ")), more)
	case last == 0:
		return names[0]
	}
	return strings.Join(names[:last], say(", ")) + say(" and ") + names[last]
}

// ids are the inputs of the ids of groups: equal inputs give equal ids to equal texts. A masking of 0 is unknown.
type ids struct {
	version int
	masking int64
}

func (i ids) like(o ids) bool {
	return i.version == o.version && (i.masking == o.masking || i.masking == 0 || o.masking == 0)
}

// session is a Session with values for queries.
type session struct {
	Session

	ids
	list      int64 // of its mods, 0 for none
	wholeMods bool
	whole     bool
}

// listedMod is a mod of a list.
type listedMod struct {
	mod      int64
	versions string
}

// timeline has sessions, the oldest first, with the mods of some of them.
type timeline struct {
	*tx
	say      cohort.Say
	sessions []session
	all      []session // if sessions are only the sessions that show whether they have a group
	lists    map[int64][]listedMod
	names    map[int64]string
}

// timeline reads the sessions of a game, or of all.
func (t *tx) timeline(game string, all bool) *timeline {
	l := &timeline{tx: t, say: fmt.Sprintf, lists: map[int64][]listedMod{}, names: map[int64]string{}}
	t.each(func(scan func(...any)) {
		var s session
		var began *int64
		var ended, saved int64
		scan(&s.ID, &s.Game, &s.Version, &s.Log, &began, &ended, &s.Live, &s.Running, &saved, &s.State, &s.Reason,
			&s.Headline, &s.Broken, &s.Sound, &s.Lines, &s.Records, &s.version, &s.list, &s.Mods, &s.wholeMods,
			&s.whole, &s.masking)
		if began != nil {
			s.Began = t.time(*began)
		}
		s.Ended, s.Saved = t.time(ended), t.time(saved)
		l.sessions = append(l.sessions, s)
	}, `SELECT id, game, version, log, began, ended, live, running, saved, state, reason, headline, broken, sound, lines,
		records, signatures, coalesce(modlist, 0), mods, whole_mods, whole, masking FROM session
		WHERE ?1 OR game = ?2 ORDER BY ended, id`, all, game)
	return l
}

func (t *tx) time(ms int64) time.Time { return time.UnixMilli(ms).In(t.h.config.Now().Location()) }

// narrow keeps the sessions that show whether they have a group: sessions that have it, by their entries, and sessions
// that have ended, show all their groups, and have ids like one of these or like now.
func (l *timeline) narrow(counts map[int64]int64, now ...ids) {
	has := func(s session) bool { _, ok := counts[s.ID]; return ok }
	for _, s := range l.sessions {
		if has(s) {
			now = append(now, s.ids)
		}
	}
	l.all = l.sessions
	l.sessions = slices.DeleteFunc(slices.Clone(l.sessions), func(s session) bool {
		return !has(s) && (s.Running || !s.whole || !slices.ContainsFunc(now, s.like))
	})
}

// mods returns a list of mods.
func (l *timeline) mods(list int64) []listedMod {
	mods, ok := l.lists[list]
	if ok || list == 0 {
		return mods
	}
	l.each(func(scan func(...any)) {
		var m listedMod
		var name string
		scan(&m.mod, &m.versions, &name)
		l.names[m.mod] = name
		mods = append(mods, m)
	}, `SELECT e.mod, e.versions, m.name FROM modlist_entry e JOIN mod m ON m.id = e.mod WHERE e.list = ?
		ORDER BY e.position`, list)
	l.lists[list] = mods
	return mods
}

// session returns a session with its changes.
func (l *timeline) session(i int) Session {
	s := l.sessions[i].Session
	s.Changes = l.changes(&l.sessions[i], l.sessions[:i])
	return s
}

// changes returns the differences between a session and the sessions of its game before it: of mods since the latest
// session with known mods, of the game since the latest session with a known version. It returns nil if the mods are
// not known and the game did not change, and for an unknown game: its sessions may belong to several games.
func (l *timeline) changes(s *session, before []session) *Changes {
	if s.Game == "" {
		return nil
	}
	c := &Changes{}
	known := false
	i := lastIndex(before, func(o session) bool { return o.Game == s.Game && o.list != 0 && o.wholeMods })
	if i >= 0 && s.list != 0 && s.wholeMods {
		known, c.Since = true, before[i].ID
		if s.list != before[i].list {
			l.compare(c, l.mods(s.list), before[:i+1])
		}
	}
	if i := lastIndex(before, func(o session) bool { return o.Game == s.Game && o.Version != "" }); i >= 0 &&
		s.Version != "" {
		if from := before[i].Version; from != s.Version {
			c.From, c.To, c.Since = from, s.Version, cmp.Or(c.Since, before[i].ID)
		}
	}
	if !known && c.To == "" {
		return nil
	}
	return c
}

// maxBack bounds how far back the version of a mod is looked for.
const maxBack = 50

// lastVersion returns the version of a mod that the latest log with one lists, "" for none.
func (l *timeline) lastVersion(mod int64, game string, before []session) string {
	for _, s := range slices.Backward(before[max(0, len(before)-maxBack):]) {
		if s.Game != game {
			continue
		}
		mods := l.mods(s.list)
		i := slices.IndexFunc(mods, func(m listedMod) bool { return m.mod == mod })
		if i >= 0 && mods[i].versions != "" {
			return mods[i].versions
		}
	}
	return ""
}

// compare adds the differences between a list of mods and the list of the last earlier session. If that list has no
// version of a mod, an earlier session's version counts.
func (l *timeline) compare(c *Changes, mods []listedMod, before []session) {
	last := &before[len(before)-1]
	old := l.mods(last.list)
	had := map[int64]string{}
	for _, m := range old {
		had[m.mod] = m.versions
	}
	for _, m := range mods {
		versions, ok := had[m.mod]
		if ok && versions == "" && m.versions != "" {
			versions = l.lastVersion(m.mod, last.Game, before)
		}
		switch {
		case !ok:
			c.Added = append(c.Added, l.names[m.mod])
		case versions != m.versions && versions != "" && m.versions != "": // a log that lists none is no other
			if len(c.Updated) == 0 {
				c.versions = [2]string{versions, m.versions}
			}
			c.Updated = append(c.Updated, l.names[m.mod])
		}
		delete(had, m.mod)
	}
	for _, m := range old {
		if _, gone := had[m.mod]; gone {
			c.Removed = append(c.Removed, l.names[m.mod])
		}
	}
}

func lastIndex(all []session, f func(s session) bool) int {
	for i, s := range slices.Backward(all) {
		if f(s) {
			return i
		}
	}
	return -1
}

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
	i := lastIndex(l.sessions, func(s session) bool { return s.list != 0 && s.wholeMods })
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
	has := func(s session) bool { _, ok := counts[s.ID]; return ok }
	first, last := slices.IndexFunc(l.sessions, has), lastIndex(l.sessions, has)
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
