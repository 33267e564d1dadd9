package rules

import (
	"cmp"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed/internal/yamlfile"
	"github.com/heedlog/heed/signature"
)

// Compile makes a [Set] of the given files. Rules of an earlier file match
// before rules of a later one, an earlier file's defaults win, and an earlier
// file may override rules, lists and macros of a later one; lists, macros,
// protected words and logger frames are shared by all. Without files, the set
// decides by the built-in defaults alone.
//
// A set compiles whole or not at all: the error, if any, is of type [Errors]
// and reports everything that is wrong. Compile once and share the set.
func Compile(files ...File) (*Set, error) { return compile("", files) }

// compile makes the set of the files for the logs of one family.
func compile(family string, files []File) (*Set, error) {
	l := link(family, files, false)
	l.limits()
	if err := l.errs.err(); err != nil {
		return nil, err
	}
	for _, d := range l.docs {
		l.set.ended = append(l.set.ended, d.ended...)
		for _, r := range d.rules {
			r.given = nil // which holds the text of all fields
		}
	}
	if l.set.ended != nil {
		files = append(slices.Clip(files), File{Data: []byte(strings.Join(l.set.ended, "\n"))})
	}
	l.set.hash = hashFamily(hashFiles(files), family)
	return l.set, nil
}

// link parses and links the files for the logs of one family. Only a whole set has the tests of default files, which
// are a third of their texts and known to be valid.
func link(family string, files []File, whole bool) *linker {
	errs := &collector{}
	docs := make([]*document, 0, len(files))
	for i, f := range files {
		src := newSource(i, f)
		if i == maxFiles {
			errs.add(at{src: src}, "", "more than %d files", maxFiles)
			break
		}
		if _, err := time.Parse(time.DateOnly, cmp.Or(f.Today, time.DateOnly)); err != nil {
			errs.add(at{src: src}, "write it as 2026-01-31", "File.Today: %s is no day", yamlfile.Quote(f.Today))
		}
		data := f.Data
		if !whole && isDefault(f) {
			data = withoutTests(f.Data)
		}
		doc := parseFile(src, data, errs)
		if !holdsFor(doc.families, family) {
			doc.leave()
		}
		docs = append(docs, doc)
	}
	l := &linker{
		errs: errs, docs: docs, resolver: newResolver(errs),
		set: &Set{byID: map[string]*Rule{}, docs: docs, family: family},
	}
	l.masking()
	l.resolver.declare(l.docs)
	l.collect()
	for _, d := range l.decls {
		l.compile(d)
	}
	l.resolveIDs()
	l.reach()
	if l.errs.count() == 0 {
		l.set.index = newIndex(l.set.active)
		l.set.finish()
	}
	l.set.lists, l.set.macros = l.resolver.lists, l.resolver.macros
	return l
}

// linker makes a set of parsed files.
type linker struct {
	errs     *collector
	docs     []*document
	resolver *resolver
	set      *Set
	decls    []*ruleDecl // in the order of set.rules
}

// masking gathers the protected words and logger frames of the files and checks
// them with package signature.
func (l *linker) masking() {
	protect, loggers := map[string]bool{}, map[string]bool{}
	for _, d := range l.docs {
		for _, w := range d.protect {
			if w.Value == "" || strings.ContainsAny(w.Value, " \t\r\n") {
				w.Fail("protect each word by itself", "%s is not one word", yamlfile.Quote(w.Value))
				continue
			}
			protect[w.Value] = true
		}
		for _, w := range d.loggers {
			if strings.TrimSpace(w.Value) == "" {
				w.Fail("remove it, or write the beginning of the logger's frames, such as Verse.Log",
					"is empty, so every frame would match it")
				continue
			}
			loggers[w.Value] = true
		}
	}
	l.set.masking = signature.Config{
		Protect:      slices.Sorted(maps.Keys(protect)),
		LoggerFrames: slices.Concat(signature.DefaultLoggerFrames(), slices.Sorted(maps.Keys(loggers))),
	}
	n, err := signature.New(l.set.masking)
	if err == nil {
		l.set.normalizer = n
		return
	}
	for _, d := range l.docs {
		for i, w := range slices.Concat(d.protect, d.loggers) {
			alone := signature.Config{LoggerFrames: []string{w.Value}}
			if i < len(d.protect) {
				alone = signature.Config{Protect: []string{w.Value}}
			}
			if _, err := signature.New(alone); err != nil {
				w.Fail("", "%s", yamlfile.Clean(err.Error()))
				return
			}
		}
	}
	l.errs.add(at{src: l.docs[0].src, field: "protect"}, "protect fewer words, or name fewer logger frames", "%s",
		yamlfile.Clean(err.Error()))
}

// collect puts the rules of all files in order. A rule that overrides another takes
// its place, so that the order of rules does not change with a condition.
func (l *linker) collect() {
	l.override()
	for _, doc := range l.docs {
		for _, d := range doc.rules {
			if d.home != d.src {
				continue // takes the place of the rule that it overrides
			}
			if len(l.decls) == maxRules {
				l.errs.add(d.at, "", "more than %d rules", maxRules)
				return
			}
			for d.overridden != nil {
				d = d.overridden
			}
			if !d.override || d.home != d.src {
				d.check(l.errs)
			}
			r := &d.rule
			r.Disabled = r.Disabled || !holdsFor(l.docs[d.home.index].families, l.set.family)
			r.HasSeverity = d.given["severity"] != nil
			r.When, r.index, r.file, r.home = d.when.text, len(l.set.rules), d.src.index, d.home.index
			l.set.rules = append(l.set.rules, r)
			l.decls = append(l.decls, d)
		}
	}
}

// compile compiles the condition, the exceptions and the advice of a rule.
func (l *linker) compile(d *ruleDecl) {
	r := &d.rule
	r.Advice, r.AdviceAtStart = adviceOf(d.advice)
	cond := l.resolver.condition(&d.when, "rule can never match")
	exceptions := make([]*condition, 0, len(d.exceptions))
	for i := range d.exceptions {
		c := l.resolver.condition(&d.exceptions[i].when, "exception excepts nothing")
		if c == nil {
			cond = nil
			continue
		}
		exceptions = append(exceptions, c)
	}
	if cond == nil {
		return
	}
	r.reads, r.possible, r.certain = cond.reads, cond.possible, cond.certain
	for i, c := range exceptions {
		expr := c.expr
		switch first := slices.IndexFunc(exceptions[:i], c.same); {
		case first >= 0:
			expr.Fail("remove one of the two", "the exception is the same as exceptions[%d]", first+1)
		case c.same(cond) || r.possible&^c.certain == 0:
			expr.Fail("narrow the exception, or turn the rule off with enabled: false",
				"the rule can never match: an exception always applies")
			return
		case c.possible&cond.possible == 0:
			expr.Fail("correct it, or remove the exception", "the exception can never apply where the rule matches")
		}
		r.reads |= c.reads
		r.possible &^= c.certain
		r.certain &^= c.possible
	}
	r.cond, r.exceptions = cond, exceptions
	r.PerEntry = r.reads&perEntry != 0
	r.MatchesAll = r.certain == allShapes && !r.Continue && !r.Disabled
	if !r.Disabled {
		l.set.active = append(l.set.active, r)
	}
	if r.Continue && r.SetsPhase != "" && r.PerEntry {
		d.when.Fail("read template or frames",
			"a rule with continue that sets the phase cannot read message, stack or operation")
	}
}

// resolveIDs expands the rules that rules name into ids.
func (l *linker) resolveIDs() {
	ids := slices.Sorted(maps.Keys(l.set.byID))
	budget := maxExpandedSet
	for _, d := range l.decls {
		d.rule.Resolves = l.named(ids, d, d.resolves, &budget, "resolve itself",
			"name the rules whose problem is over when this one matches")
		d.rule.ExplainedBy = l.named(ids, d, d.explained, &budget, "explain itself",
			"name the rules whose earlier problem explains this one's")
	}
}

// named returns the ids of the rules that words of a rule name, in order of the set.
func (l *linker) named(ids []string, d *ruleDecl, words []value, budget *int, itself, hint string) (named []string) {
	var found []*Rule
	for _, w := range words {
		prefix, isPattern := strings.CutSuffix(w.Value, "*")
		if strings.Contains(prefix, "*") {
			w.Fail(`such as "load.*"`, "%s: '*' is allowed only at the end", yamlfile.Quote(w.Value))
			continue
		}
		if !isPattern && prefix == d.rule.ID {
			w.Fail(hint, "a rule cannot %s", itself)
			continue
		}
		first, _ := slices.BinarySearch(ids, prefix)
		last := first
		for last < len(ids) && (ids[last] == prefix || isPattern && strings.HasPrefix(ids[last], prefix)) {
			found = append(found, l.set.byID[ids[last]])
			last++
		}
		if first == last {
			known := ""
			if !l.errs.full() { // a hint for one of many thousand costs time
				known = cmp.Or(yamlfile.DidYouMean(w.Value, ids), "write the id of a rule of the set, or the beginning of some and a '*'")
			}
			w.Fail(known, "no rule has the id %s", yamlfile.Quote(w.Value))
		}
		if *budget -= last - first; *budget < 0 {
			w.Fail("name fewer", "the files name too many rule ids")
			return nil
		}
	}
	slices.SortFunc(found, func(a, b *Rule) int { return a.index - b.index })
	for _, r := range slices.Compact(found) {
		if r != &d.rule && !r.Disabled {
			named = append(named, r.ID)
		}
	}
	return named
}

// limits holds what files share to its bounds; the tests of default files do not count.
func (l *linker) limits() {
	if len(l.set.gameCode) > maxGameCode {
		l.errs.add(at{src: l.docs[0].src, field: "game_code"}, "name fewer, shorter namespaces", "more than %d names", maxGameCode)
	}
	seen := map[string]bool{}
	escalations, tests := 0, 0
	for _, d := range l.decls {
		if first := maxTests - tests; first >= 0 && first < len(d.tests) {
			l.errs.add(d.tests[first].at, "", "more than %d tests", maxTests)
		}
		tests += len(d.tests)
		if d.rule.Escalate != nil {
			if escalations++; escalations == maxEscalations+1 {
				d.given["escalate"].Key.Fail("", "more than %d rules with escalate", maxEscalations)
			}
		}
		for _, t := range d.rule.Tags {
			seen[t] = true
		}
		if len(seen) > maxTags {
			l.errs.add(d.at.of("tags"), "", "more than %d different tags in the set", maxTags)
			return
		}
	}
}

// tests returns the inline tests of all files, in order, with the rules of a set of the same files.
func (l *linker) tests(of *Set) (tests []test) {
	for i, d := range l.decls {
		for j := range d.tests {
			tests = append(tests, test{of.rules[i], &d.tests[j]})
		}
	}
	return tests
}

func hashFiles(files []File) uint64 {
	h := fnv.New64a()
	for _, f := range files {
		for _, part := range [][]byte{[]byte(f.Name), f.Data} {
			h.Write([]byte(strconv.Itoa(len(part)) + ":")) // a hash never fails to write
			h.Write(part)
		}
	}
	return h.Sum64()
}
