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
	small []string // words without a capital
	names []string // words with a capital in the middle, or before a possessive
	name  name
}

func sentenceOf(t *entryText, name name) (s sentence) {
	head, stack, _ := strings.Cut(t.template, "\n")
	s.name = name
	end, joins := 0, false // joins: a word after a space continues a run
	for _, at := range wordForm().FindAllStringIndex(head, -1) {
		word, between, after := head[at[0]:at[1]], head[end:at[0]], head[at[1]:]
		title := titleForm().MatchString(word) && afterForm().MatchString(after)
		if title && (insideForm().MatchString(head[:at[0]]) || after != "" && strings.ContainsAny(after[:1], "'’")) {
			s.names = append(s.names, word)
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
				s.small = append(s.small, word)
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
	isName, isOther := map[string]bool{}, map[string]bool{}
	for _, side := range [...]Side{Old, New} {
		for _, m := range c.listed(side) {
			isOther[m.Title()] = true
		}
	}
	sentences := make([]sentence, len(texts))
	for i, t := range texts {
		sentences[i] = sentenceOf(t, n.of(t))
		for _, word := range sentences[i].names {
			isName[word] = true
		}
		for _, word := range sentences[i].small {
			isOther[word] = true
		}
		for side := range t.tally {
			for _, s := range t.tally[side].suspects {
				isOther[s.Mod] = true
			}
		}
	}
	isPerson := func(run string) bool {
		for word := range strings.SplitSeq(run, " ") {
			if isName[word] && !isOther[word] && !isOther[run] && !isOther[strings.ToLower(word)] {
				return true
			}
		}
		return false
	}
	alike := map[string][]*sentence{}
	for i := range sentences {
		s := &sentences[i]
		if len(s.runs) == 0 || len(s.small) < minSmall {
			continue
		}
		known := alike[s.form]
		at := slices.IndexFunc(known, func(o *sentence) bool {
			for r, run := range o.runs {
				if run != s.runs[r] && !isPerson(run) && !isPerson(s.runs[r]) {
					return false
				}
			}
			return true
		})
		if at < 0 && len(known) < maxAlike {
			alike[s.form] = append(known, s)
		}
		if at >= 0 {
			n.join(known[at].name, s.name)
		}
	}
}
