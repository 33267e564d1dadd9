package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/event"
)

type groupView struct {
	ID          string
	Disposition string
	Severity    string
	Count       uint64
	Shown       string // the count
	First, Last *place
	Forms       uint64
	Template    string
	Frames      []string
	Blame       []string
	Rule        string
	Summary     string
	Why         string
	Default     bool
	Escalated   bool
	Reason      []string
	Signature   string
	Spark       string // path of a sketch
	Sample      []sampleView
	More        uint64 // lines of the sample that are left out
}

type sampleView struct {
	Text   string
	Gap    bool
	Blamed bool
}

type countView struct {
	Disposition string
	Word        string // for entries of it
	Entries     string
	Says        string // how many entries in how many groups
	Shown       int
}

func (s *section) groups() {
	r := s.replay
	for _, d := range dispositions {
		t := r.tables[d]
		rows := t.top(s.share(pageGroups[d]))
		held := uint64(t.size())
		s.Counts = append(s.Counts, countView{
			Disposition: d.String(), Word: dispositionWords[d], Entries: grouped(t.entries),
			Says: many(t.entries, "entry", "entries") + " in " + many(held, "group", "groups"), Shown: len(rows),
		})
		s.MoreGroups += held - uint64(len(rows))
		s.Forgotten += t.forgotten
		for _, row := range rows {
			g := s.group(d, row)
			g.ID = fmt.Sprintf("%s-g%d", s.ID, len(s.Groups)+1)
			s.Groups = append(s.Groups, g)
		}
	}
}

var dispositionWords = [len(dispositions)]string{event.Blocking: "blocking", event.Advisory: "advisory", event.Ignore: "ignored"}

func (s *section) group(d event.Disposition, row *row) *groupView {
	r := s.replay
	g := &groupView{
		Disposition: d.String(), Severity: row.Severity.String(), Count: row.Count, Shown: grouped(row.Count),
		Forms: row.Forms, Blame: safeAll(row.Blame), Rule: safe(row.Rule), Escalated: r.escalated(row.Rule, d),
		Signature: row.Signature.ID.String(), First: s.at(row.First, time.Time{}), Last: s.at(row.Last, time.Time{}),
	}
	_, frames, _ := strings.Cut(row.Template, "\n")
	g.Template = row.head(0)
	if frames != "" {
		g.Frames = safeAll(strings.Split(frames, "\n"))
	}
	if r.config.Rule != nil {
		summary, why := r.config.Rule(row.Rule)
		g.Summary, g.Why = sentence(safe(oneSpace(summary))), safe(oneSpace(why))
	}
	_, _, g.Default = defaultRule(row.Rule)
	det := row.detail
	if det == nil {
		return g
	}
	det.spark.scale(r.details.total)
	g.Spark = det.spark.path()
	g.More, g.Reason, g.First.Time = uint64(det.more), safeAll(det.reason), s.clock(det.time)
	for _, line := range det.sample {
		g.Sample = append(g.Sample, sampleView{Text: safe(line.text), Gap: line.gap, Blamed: line.blamed})
	}
	return g
}

// The size of a sparkline in its own units.
const sparkHeight = 16

// path draws the counts as bars. One entry is one unit high, so that it can be seen.
func (s *spark) path() string {
	most := uint64(slices.Max(s.counts[:]))
	var b strings.Builder
	for i, n := range s.counts {
		if n == 0 {
			continue
		}
		h := max(uint64(n)*sparkHeight/most, 2)
		fmt.Fprintf(&b, "M%d %dv-%dh.8v%dz", i, sparkHeight, h, h)
	}
	return b.String()
}
