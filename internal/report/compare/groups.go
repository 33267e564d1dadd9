package compare

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// group is the texts that are one variant of a group, with their counts: another code in the same place is news.
type group struct {
	texts []*entryText // by id
	tally [2]tally
	first map[*Run]int // the first line in each log
	known *Known       // of a baseline, nil if none has it
}

func compareTexts(a, b *entryText) int { return compareSignatures(a.sig, b.sig) }

func compareSignatures(a, b signature.Signature) int {
	return cmp.Or(cmp.Compare(a.ID, b.ID), cmp.Compare(a.Check, b.Check))
}

// name names a variant of a group.
type name struct {
	group   signature.Signature
	variant string
}

// groups learns all texts, with those of a baseline, and returns the groups by their first id. A text without a
// template is a group of its own. Joined is the baseline with entries that turn out to be one variant of a group made
// one, the first; all groups that an entry knows are one.
func (c *Collector) groups(b *Baseline) (groups []*group, joined *Baseline) {
	texts := slices.SortedFunc(maps.Values(c.texts), compareTexts)
	byEntry := c.known(b)
	known := slices.Concat(byEntry...)
	all, cut := whole(texts, known)
	learned := slices.Concat(all, known)
	slices.SortFunc(learned, compareTexts)
	grouper, err := signature.NewGrouper(signature.GrouperConfig{
		Signatures: max(1, len(learned)),
		Columns:    min(max(groupColumns*len(learned), minColumns), maxColumns),
	})
	if err != nil {
		panic("BUG: compare: " + err.Error())
	}
	for _, t := range learned {
		if t.template != "" {
			grouper.Learn(t.sig, []byte(t.template))
		}
	}
	names := &namer{grouper, map[name]name{}}
	c.people(names, learned)
	for _, of := range byEntry {
		for _, t := range of {
			names.join(names.of(of[0]), names.of(t))
		}
	}
	joined, entries := b.joined(byEntry, names)
	byName := map[name]*group{}
	for _, t := range all {
		name := names.of(t)
		g := byName[name]
		if g == nil {
			g = &group{first: map[*Run]int{}}
			if entry, ok := entries[name]; ok {
				g.known = &joined.Entries[entry]
			}
			byName[name] = g
			groups = append(groups, g)
		}
		g.texts = append(g.texts, t)
		g.add(t, c.config.Mods)
	}
	for t, longer := range cut {
		if g := byName[names.of(longer)]; g != nil {
			g.addCut(t)
		}
	}
	return groups, joined
}

// add adds the tallies and the places of a text.
func (g *group) add(t *entryText, mods []string) {
	for side := range t.tally {
		g.tally[side].merge(&t.tally[side], mods)
	}
	g.see(t)
}

func (g *group) see(t *entryText) {
	for run, line := range t.first {
		see(g.first, run, line)
	}
}

// merge adds u to t, with the mods of [tally.join].
func (t *tally) merge(u *tally, mods []string) {
	if u.count == 0 {
		return
	}
	if t.count == 0 || weightier(&u.decided, &t.decided) {
		t.decided = u.decided
		if u.sample != "" {
			known := t.named
			t.sample, t.suspects, t.named = u.sample, u.suspects, u.named
			t.join(known, mods)
		}
	}
	t.count += u.count
	t.breaks = t.breaks || u.breaks
	t.own, t.alone = max(t.own, u.own), max(t.alone, u.alone)
	if len(t.suspects) == 0 {
		t.suspects = u.suspects
	}
	t.join(u.named, mods)
	t.sample, t.text = cmp.Or(t.sample, u.sample), cmp.Or(t.text, u.text)
}

// whole returns the whole texts, and the texts that the end of a log has cut, each with the text that begins with it. A
// game that is killed, or still running, leaves a log that ends within a line or within a stack; the beginning of the
// record has a signature of its own, and is no news. Only the last entry of a log can be cut. It counts as cut if it
// came nowhere else, and a text that came elsewhere, or that a baseline knows, begins with it: one of its own side, if
// there is one, since another fault of the other side must stay new.
func whole(texts, known []*entryText) (whole []*entryText, cut map[*entryText]*entryText) {
	cut = map[*entryText]*entryText{}
	all := slices.Concat(texts, known)
	for _, t := range texts {
		longer := -1
		if t.onlyEnds() {
			for i, o := range all {
				if !o.onlyEnds() && begins(o.template, t.template) && (longer < 0 || o.covers(t) && !all[longer].covers(t)) {
					longer = i
				}
			}
		}
		if longer < 0 {
			whole = append(whole, t)
			continue
		}
		cut[t] = all[longer]
	}
	return whole, cut
}

// onlyEnds reports whether the text came nowhere but at the ends of logs.
func (t *entryText) onlyEnds() bool {
	return t.ends > 0 && t.ends == t.tally[Old].count+t.tally[New].count
}

// covers reports whether t is on every side that u is on.
func (t *entryText) covers(u *entryText) bool {
	return (u.tally[Old].count == 0 || t.tally[Old].count > 0) && (u.tally[New].count == 0 || t.tally[New].count > 0)
}

// addCut counts the beginning of an entry of the group. A rule may have decided otherwise about half of an entry, so
// that the whole entries decide about the group.
func (g *group) addCut(t *entryText) {
	for side := range t.tally {
		if v, n := &g.tally[side], t.tally[side].count; n > 0 && v.count == 0 {
			*v = g.tally[1-side]
			v.count = n
		} else {
			v.count += n
		}
	}
	g.see(t)
}

// begins reports whether a template may be the beginning of a longer one, which is whole. The last word may be masked
// in one of them alone: "A = Thing_Lam" is the beginning of "A = <*>".
func begins(longer, template string) bool {
	if template == "" || longer == template {
		return false
	}
	if strings.HasPrefix(longer, template) {
		return true
	}
	at := strings.LastIndexAny(template, " \n") + 1
	if at == 0 || !strings.HasPrefix(longer, template[:at]) {
		return false
	}
	word := longer[at:]
	if end := strings.IndexAny(word, " \n"); end >= 0 {
		word = word[:end]
	}
	return strings.Contains(word, signature.Mask) || strings.Contains(template[at:], signature.Mask)
}

// namer returns the variants of groups that texts are. Two statements that differ in the names of people alone are one:
// one text of each is too little for a [signature.Grouper], and each further colonist would be news.
type namer struct {
	grouper *signature.Grouper
	first   map[name]name // the variant that it is one with
}

// of returns the variant of a group that a text is.
func (n *namer) of(t *entryText) name {
	return n.root(name{n.grouper.Group(t.sig), string(n.grouper.AppendVariant(nil, []byte(t.template)))})
}

// join makes two variants one.
func (n *namer) join(a, b name) {
	if first, other := n.root(a), n.root(b); first != other {
		n.first[other] = first
	}
}

func (n *namer) root(s name) name {
	for {
		first, ok := n.first[s]
		if !ok {
			return s
		}
		s = first
	}
}

var (
	wordForm  = text.Lazy(`[\p{L}\p{N}_]+`)
	titleForm = text.Lazy(`^\p{Lu}\p{Ll}+$`)
	smallForm = text.Lazy(`^\p{Ll}{2,}$`)
	// insideForm ends before a word in the middle of a sentence, afterForm begins after a name.
	insideForm = text.Lazy(`[\p{L}\p{N},>] $`)
	afterForm  = text.Lazy(`^(?:$|[\s,;!?)]|\.\s|\.$|['’]s\b)`)
)

// sentence is the first line of a template with a mark in place of each run of words with a capital.
type sentence struct {
	form  string
	runs  []string
	small int // words without a capital
	name  name
}

// words are the words of all sentences that may be names of people, and those that are none.
type words struct{ names, others map[string]bool }

// read returns the sentence of a text. A word with a capital in the middle, or before a possessive, may be a name, a
// word without a capital is none.
func (w *words) read(t *entryText, name name) (s sentence) {
	head, stack, _ := strings.Cut(t.template, "\n")
	s.name = name
	end, joins := 0, false // joins: a word after a space continues a run
	for _, at := range wordForm().FindAllStringIndex(head, -1) {
		word, between, after := head[at[0]:at[1]], head[end:at[0]], head[at[1]:]
		title := titleForm().MatchString(word) && afterForm().MatchString(after)
		if title && (insideForm().MatchString(head[:at[0]]) || after != "" && strings.ContainsAny(after[:1], "'’")) {
			w.names[word] = true
		}
		switch {
		case title && joins && between == " ":
			s.runs[len(s.runs)-1] += " " + word
		case title:
			s.form += between + "\x00"
			s.runs = append(s.runs, word)
		default:
			s.form += between + word
			if smallForm().MatchString(word) {
				s.small++
				w.others[word] = true
			}
		}
		end, joins = at[1], title
	}
	s.form += head[end:] + "\n" + stack
	return s
}

// The bounds of statements that are compared by their names: words without a capital, and statements of one form.
const (
	minSmall = 2
	maxAlike = 16
)

// people joins the variants of texts that differ in the names of people alone. A name has a capital in the middle
// of a sentence somewhere, is never written small, and is not the name of a mod.
func (c *Collector) people(n *namer, texts []*entryText) {
	w := words{map[string]bool{}, map[string]bool{}}
	for _, m := range slices.Concat(c.listed(Old), c.listed(New)) {
		w.others[m.Title()] = true
	}
	sentences := make([]sentence, len(texts))
	for i, t := range texts {
		sentences[i] = w.read(t, n.of(t))
		for _, s := range slices.Concat(t.tally[Old].suspects, t.tally[New].suspects) {
			w.others[s.Mod] = true
		}
	}
	isPerson := func(run string) bool {
		return slices.ContainsFunc(strings.Split(run, " "), func(word string) bool {
			return w.names[word] && !w.others[word] && !w.others[run] && !w.others[strings.ToLower(word)]
		})
	}
	alike := map[string][]*sentence{}
	for i := range sentences {
		s := &sentences[i]
		if len(s.runs) == 0 || s.small < minSmall {
			continue
		}
		known := alike[s.form]
		at := slices.IndexFunc(known, func(o *sentence) bool {
			was, is := "", "" // one person in place of one other: "from Waiting to Running" is not "from Running to Failed"
			return slices.EqualFunc(o.runs, s.runs, func(a, b string) bool {
				if a != b && was == "" && (isPerson(a) || isPerson(b)) {
					was, is = a, b
				}
				return a == b || a == was && b == is
			})
		})
		if at >= 0 {
			n.join(known[at].name, s.name)
		} else if len(known) < maxAlike {
			alike[s.form] = append(known, s)
		}
	}
}
