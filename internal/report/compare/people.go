package compare

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

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
			return slices.EqualFunc(o.runs, s.runs, func(a, b string) bool { return a == b || isPerson(a) || isPerson(b) })
		})
		if at >= 0 {
			n.join(known[at].name, s.name)
		} else if len(known) < maxAlike {
			alike[s.form] = append(known, s)
		}
	}
}
