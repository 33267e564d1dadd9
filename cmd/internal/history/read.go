package history

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/signature"
)

// Games returns the games that are remembered, the one with the latest session first, and "" where one is not known.
func (h *History) Games(ctx context.Context) (games []string, err error) {
	err = h.read(ctx, func(t *tx) {
		games = column[string](t, `SELECT game FROM session GROUP BY game ORDER BY max(ended) DESC, max(id) DESC`)
	})
	return games, err
}

// Sessions returns the latest sessions of a game, or of all games where it is "", the latest first; 0 for no limit.
func (h *History) Sessions(ctx context.Context, game string, limit int) (all []Session, err error) {
	err = h.read(ctx, func(t *tx) {
		l := t.timeline(game, game == "")
		for i := range slices.Backward(l.sessions) {
			if limit > 0 && len(all) == limit {
				break
			}
			all = append(all, l.session(i))
		}
	})
	return all, err
}

// Session returns a session with its summary. An unknown id is [ErrUnknown].
func (h *History) Session(ctx context.Context, id int64) (s Session, sum *summary.Session, err error) {
	err = h.read(ctx, func(t *tx) {
		l := t.timeline("", true)
		i := slices.IndexFunc(l.sessions, func(s session) bool { return s.ID == id })
		if i < 0 {
			t.fail(fmt.Errorf("%w: %d", ErrUnknown, id))
			return
		}
		sum = t.summary(id)
		s = l.session(i)
	})
	return s, sum, err
}

// summary reads the summary of a session, with the templates of its groups.
func (t *tx) summary(id int64) *summary.Session {
	s, err := &summary.Session{}, sql.ErrNoRows
	for _, data := range column[[]byte](t, `SELECT data FROM body WHERE session = ?`, id) {
		if data, err = t.h.decode.DecodeAll(data, nil); err == nil {
			err = json.Unmarshal(data, s)
		}
	}
	if err != nil {
		t.fail(fmt.Errorf("session %d: %w", id, err))
	}
	templates := byNumber[string](t,
		`SELECT s.signature, s.template FROM occurrence o JOIN signature s ON s.id = o.sig WHERE o.session = ?`, id)
	for i := range s.Groups {
		s.Groups[i].Template = templates[int64(s.Groups[i].Signature)]
	}
	return s
}

// Group is a group in the sessions of a game.
type Group struct {
	Game        string         `json:"game" jsonschema:"The game without its version."`
	Signature   signature.ID   `json:"signature" jsonschema:"The signature that names it in the latest session with it."`
	Signatures  []signature.ID `json:"signatures" jsonschema:"All its signatures, in order."`
	Template    string         `json:"template,omitempty" jsonschema:"Its text, with what varies masked."`
	Sample      string         `json:"sample,omitempty" jsonschema:"A text of it, of the latest session with it."`
	Disposition string         `json:"disposition" jsonschema:"The highest of its entries in the latest session with it."`
	Rule        string         `json:"rule" jsonschema:"The rule that decided so."`
	First       Session        `json:"first" jsonschema:"The first session with it; changes are those since the latest before that shows that it was not there."`
	Last        Session        `json:"last" jsonschema:"The latest session with it."`
	Gone        *Session       `json:"gone,omitempty" jsonschema:"The first session without it after the latest."`
	Sessions    int            `json:"sessions" jsonschema:"Sessions with it."`
	Of          int            `json:"of" jsonschema:"Sessions that show whether they have it, with these."`
	Entries     int64          `json:"entries" jsonschema:"Entries of it."`
	PerThousand float64        `json:"perThousand" jsonschema:"Entries per 1,000 records of the sessions with it."`
	PerHour     float64        `json:"perHour,omitempty" jsonschema:"Per hour of these sessions, where all have times."`
	Suspects    cohort.Result  `json:"suspects" jsonschema:"Which mods or versions go with it, of the sessions that list all their mods, or why that cannot be known."`
}

// Groups returns the group of a signature: a Group for each game, and for each version of signatures.
func (h *History) Groups(ctx context.Context, sig signature.ID) (all []Group, err error) {
	err = h.read(ctx, func(t *tx) {
		for _, id := range t.numbers(`SELECT id FROM signature WHERE signature = ? ORDER BY version DESC, game`, int64(sig)) {
			all = append(all, t.group(id))
		}
	})
	return all, err
}

func (t *tx) group(id int64) (g Group) {
	t.each(func(scan func(...any)) {
		var sig int64
		scan(&g.Game, &sig)
		g.Signatures = append(g.Signatures, signature.ID(sig))
	}, `SELECT game, signature FROM signature WHERE grp = (SELECT grp FROM signature WHERE id = ?)`, id)
	slices.Sort(g.Signatures)
	l := t.timeline(g.Game, false)
	counts := t.occurrences(id)
	l.narrow(counts)
	var first, last int
	var records, hours float64
	timed := true
	for i := range l.sessions {
		s := &l.sessions[i]
		n, has := counts[s.ID]
		if !has {
			continue
		}
		if g.Sessions == 0 {
			first = i
		}
		last = i
		g.Sessions++
		g.Entries += n
		records += float64(s.Records)
		hours += s.Length().Hours()
		timed = timed && s.Length() > 0
	}
	if g.Sessions == 0 {
		t.fail(errors.New("a group without sessions"))
		return g
	}
	g.Of = len(l.sessions)
	g.PerThousand = 1000 * float64(g.Entries) / max(1, records)
	if timed {
		g.PerHour = float64(g.Entries) / hours
	}
	g.First, g.Last = l.session(first), l.session(last)
	if last+1 < len(l.sessions) {
		g.Gone = new(l.session(last + 1))
	}
	g.Suspects = l.suspects(g.Game, counts)
	t.latest(&g)
	return g
}

// suspects returns which mods go with a group, of the sessions that list all their mods.
func (l *timeline) suspects(game string, counts map[int64]int64) cohort.Result {
	if game == "" {
		return cohort.Result{Text: "The game is not known: its sessions may be of several."}
	}
	var all []cohort.Session
	for i := range l.sessions {
		s := &l.sessions[i]
		if s.list == 0 || !s.wholeMods {
			continue
		}
		one := cohort.Session{Game: s.Version, Fault: counts[s.ID] > 0}
		for _, m := range l.mods(s.list) {
			one.Mods = append(one.Mods, cohort.Mod{
				Key: strconv.FormatInt(m.mod, 10), Name: l.names[m.mod], Version: m.versions,
			})
		}
		all = append(all, one)
	}
	r := cohort.Suspects(all)
	for i := range r.Factors {
		r.Factors[i].Keys = nil // they mean nothing outside this file
	}
	return r
}

// latest sets the fields of the latest session with a group, by its signature with the most entries.
func (t *tx) latest(g *Group) {
	s := t.summary(g.Last.ID)
	s.Groups = slices.DeleteFunc(s.Groups, func(o summary.Group) bool {
		return !slices.Contains(g.Signatures, o.Signature)
	})
	if len(s.Groups) == 0 {
		t.fail(errors.New("a group that its session does not have"))
		return
	}
	most := slices.MaxFunc(s.Groups, func(a, b summary.Group) int {
		return cmp.Or(cmp.Compare(a.Count, b.Count), cmp.Compare(b.Signature, a.Signature))
	})
	g.Signature, g.Template, g.Sample = most.Signature, most.Template, most.Sample
	g.Disposition, g.Rule = most.Disposition.String(), most.Rule
}

// occurrences returns the entries of a group by session.
func (t *tx) occurrences(id int64) map[int64]int64 {
	return byNumber[int64](t, `SELECT o.session, sum(o.count) FROM signature s JOIN occurrence o ON o.sig = s.id
		WHERE s.grp = (SELECT grp FROM signature WHERE id = ?) GROUP BY o.session`, id)
}

// Mod counts a mod's sessions: sessions of a game that list all their mods, and that broke, or ended without a break.
type Mod struct {
	blame.Mod

	With          int `json:"with" jsonschema:"Sessions with it."`
	BrokenWith    int `json:"brokenWith" jsonschema:"Of these, those in which something broke."`
	Without       int `json:"without" jsonschema:"Sessions without it."`
	BrokenWithout int `json:"brokenWithout" jsonschema:"Of these, those in which something broke."`

	// The interval is Newcombe's of Wilson's. All of a game's hold together with 95 %, by Bonferroni.
	Difference *Difference `json:"difference,omitempty" jsonschema:"Between the shares of broken sessions with and without it, where there are both."` //nolint:lll // one tag
}

// Difference is a difference between two shares, with its interval.
type Difference struct {
	Value float64 `json:"value" jsonschema:"What it is, from -1 to 1; above 0 more broke with the mod."`
	Low   float64 `json:"low" jsonschema:"The lower end of its interval; all intervals together hold with 95 %."`
	High  float64 `json:"high" jsonschema:"The upper end of its interval."`
}

// confidence is the common confidence of all intervals of Mods.
const confidence = 0.95

// GameMods are the mods of a game.
type GameMods struct {
	Game     string        `json:"game" jsonschema:"The game without its version."`
	Suspects cohort.Result `json:"suspects" jsonschema:"Which mods or versions go with the sessions in which something broke, or why that cannot be known."`
	Mods     []Mod         `json:"mods" jsonschema:"Its mods, those first that more surely break it."`
}

// Mods returns the mods of a game. Mods with the larger difference come first, mods without one last. Which of them are
// suspects is decided as for a group.
func (h *History) Mods(ctx context.Context, game string) (m GameMods, err error) {
	all, varying := []Mod{}, 0
	err = h.read(ctx, func(t *tx) {
		l, broke := t.timeline(game, false), map[int64]int64{}
		l.sessions = slices.DeleteFunc(l.sessions, func(s session) bool {
			return s.list == 0 || !s.wholeMods || !s.Broken && (!s.Sound || s.Running)
		})
		for i := range l.sessions {
			if s := &l.sessions[i]; s.Broken {
				broke[s.ID] = 1
			}
		}
		m = GameMods{Game: game, Suspects: l.suspects(game, broke)}
		t.each(func(scan func(...any)) {
			var m Mod
			scan(&m.Name, &m.PackageID, &m.WorkshopID, &m.With, &m.BrokenWith)
			m.Without, m.BrokenWithout = len(l.sessions)-m.With, len(broke)-m.BrokenWith
			varying += min(m.Without, 1)
			all = append(all, m)
		}, `SELECT m.name, m.package, m.workshop, sum(l.n), sum(l.broken) FROM
			(SELECT modlist, count(*) AS n, sum(broken) AS broken FROM session WHERE game = ? AND modlist IS NOT NULL
				AND whole_mods AND (broken OR sound AND NOT running) GROUP BY modlist) l
			JOIN modlist_entry e ON e.list = l.modlist JOIN mod m ON m.id = e.mod GROUP BY e.mod`, game)
	})
	z := cohort.Quantile(confidence, varying)
	for i := range all {
		all[i].compare(z)
	}
	low := func(m *Mod) float64 {
		if m.Difference == nil {
			return -2
		}
		return m.Difference.Low
	}
	slices.SortFunc(all, func(a, b Mod) int {
		return cmp.Or(cmp.Compare(low(&b), low(&a)), cmp.Compare(a.Name, b.Name), cmp.Compare(a.PackageID, b.PackageID))
	})
	m.Mods = all
	return m, err
}

// compare sets the difference (Newcombe, "Interval estimation for the difference between independent proportions",
// Statistics in Medicine 17, 1998, method 10).
func (m *Mod) compare(z float64) {
	if m.With == 0 || m.Without == 0 {
		return
	}
	n1, n2 := float64(m.With), float64(m.Without)
	p1, p2 := float64(m.BrokenWith)/n1, float64(m.BrokenWithout)/n2
	l1, u1 := cohort.Wilson(float64(m.BrokenWith), n1, z)
	l2, u2 := cohort.Wilson(float64(m.BrokenWithout), n2, z)
	d := p1 - p2
	m.Difference = &Difference{Value: d, Low: d - math.Hypot(p1-l1, u2-p2), High: d + math.Hypot(u1-p1, p2-l2)}
}

// groupOf returns the id of a signature of a group that one of some signatures is of, 0 for none.
func (t *tx) groupOf(game string, version int, sigs []signature.ID) int64 {
	for _, sig := range sigs {
		if id, _, _ := t.signature(game, version, sig); id != 0 {
			return id
		}
	}
	return 0
}

// Each calls f with the summary of each session of a game, or of all games if game is "", the oldest first. It skips a
// session that is forgotten during the call. The error names the unreadable sessions, after all others. f runs outside
// any transaction.
func (h *History) Each(ctx context.Context, game string, f func(s *summary.Session) error) error {
	var ids []int64
	err := h.read(ctx, func(t *tx) {
		ids = t.numbers(`SELECT id FROM session WHERE ?1 = '' OR game = ?1 ORDER BY ended, id`, game)
	})
	if err != nil {
		return err
	}
	var unread error
	for _, id := range ids {
		var s *summary.Session
		err := h.read(ctx, func(t *tx) { s = t.summary(id) })
		switch {
		case ctx.Err() != nil:
			return h.wrap(ctx.Err())
		case errors.Is(err, sql.ErrNoRows):
		case err != nil:
			unread = errors.Join(unread, err)
		default:
			if err := f(s); err != nil {
				return err
			}
		}
	}
	return unread
}

// Revision returns a text that changes with the remembered sessions.
func (h *History) Revision(ctx context.Context) (revision string, err error) {
	err = h.read(ctx, func(t *tx) {
		t.each(func(scan func(...any)) { scan(&revision) },
			`SELECT printf('%d/%d/%d/%d', count(*), total(id), max(id), max(saved)) FROM session`)
	})
	return revision, err
}
