package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/heedlog/heed/event"
)

// glance answers what matters, in a line or two each: what broke first, which mod
// it points at, and whether the log told everything. It comes first, and again at
// the end of a text that has scrolled it out of sight.
func (t *text) glance() {
	first, _, mute := t.brokeFirst(t.causes.list())
	if c := cmp.Or(first, mute); c != nil {
		what, _ := t.explain(c)
		what = fmt.Sprintf("line %d, %s: %s (%s)", c.First, c.Disposition, what, c.Rule)
		if len(c.FirstItem.Blame) > 0 {
			what += "; blame: " + blamed(c.FirstItem.Blame)
		}
		t.labeledIn("first", what, strong)
		if named := t.suspects(c.Disposition); len(named) > 0 {
			t.labeledIn("mod", strings.Join(named, "; "), name)
		} else {
			t.labeled("mod", "none is named by what deserved attention")
		}
	}
	label := "log"
	say := func(sentence string, in style) {
		t.labeledIn(label, sentence, in)
		label = ""
	}
	if sentence := t.blind.sentence(); t.blind.now {
		say(sentence, alarm)
	} else if sentence != "" {
		say(sentence, notice)
	}
	for _, m := range t.noticed() {
		say(m.sentence(), notice)
	}
	switch {
	case t.end.Interrupted:
		say(t.endSentence(), notice)
	case t.unread != "":
		say(t.endSentence(), alarm)
	case label != "":
		say("it speaks to its end; nothing is known to be missing", calm)
	}
}

// again repeats the glance where it has scrolled out of sight.
func (t *text) again(start int) {
	if t.options.Rows == 0 || strings.Count(string(t.out[start:]), "\n") < t.options.Rows {
		return
	}
	t.section(strong, "AT A GLANCE: %s", strings.TrimSuffix(t.attentionSentence(), "."))
	t.glance()
}

// textSuspects is how many mods the glance names.
const textSuspects = 3

// suspects names the mods that urgent entries point at first: those that what
// blocks points at before others, then by the number of entries. It says where
// what is most urgent points at none of them.
func (t *text) suspects(worst event.Disposition) []string {
	type suspect struct {
		name   string
		counts [len(dispositions)]uint64
	}
	byName := map[string]*suspect{}
	for _, d := range dispositions {
		if !d.Urgent() {
			continue
		}
		for _, row := range t.tables[d].held() {
			if len(row.Blame) == 0 {
				continue
			}
			s := byName[row.Blame[0]]
			if s == nil {
				s = &suspect{name: row.Blame[0]}
				byName[s.name] = s
			}
			s.counts[d] += row.Count
		}
	}
	all := make([]*suspect, 0, len(byName))
	for _, s := range byName {
		all = append(all, s)
	}
	slices.SortFunc(all, func(a, b *suspect) int {
		return cmp.Or(
			cmp.Compare(b.counts[event.Blocking], a.counts[event.Blocking]),
			cmp.Compare(b.counts[event.Advisory], a.counts[event.Advisory]),
			cmp.Compare(a.name, b.name),
		)
	})
	var lines []string
	if len(all) > 0 && all[0].counts[worst] == 0 {
		lines = append(lines, "none by what is "+worst.String())
	}
	for i, s := range all {
		if i == textSuspects {
			lines = append(lines, fmt.Sprintf("%d more", len(all)-i))
			break
		}
		var counts []string
		for _, d := range dispositions {
			if n := s.counts[d]; n > 0 {
				counts = append(counts, number(n)+" "+d.String())
			}
		}
		lines = append(lines, fmt.Sprintf("%s (%s)", blamed([]string{s.name}), strings.Join(counts, ", ")))
	}
	return lines
}
