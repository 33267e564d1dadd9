package rules

import "strings"

// fewItems is how many items are looked for one by one: for less than these, one
// pass over a text of a line costs more.
const fewItems = 6

// anyOf returns what a function of the language says with its list given, one and
// the same for a named list. Where the machine tries item by item, a long list is
// looked for as an [index] looks for the texts of rules: beginnings by a binary
// search, parts by four bytes of each, in one pass. A list of the words that speak
// of a fault is asked about nearly every text that no other rule knows.
func (r *resolver) anyOf(name string, items []string) func(string) bool {
	l := r.named(items)
	if l == nil {
		return anyOf(name, items)
	}
	if l.tests[name] == nil {
		if l.tests == nil {
			l.tests = map[string]func(string) bool{}
		}
		l.tests[name] = anyOf(name, items)
	}
	return l.tests[name]
}

func anyOf(name string, items []string) func(string) bool {
	if len(items) < fewItems || len(items) > maxLiterals {
		return bind(listFuncs[name], items)
	}
	texts := make(map[string][]uint16, len(items))
	var short []string // than what a part is found by
	for _, item := range items {
		if name == "contains_any" && len(item) < gramBytes {
			short = append(short, item)
		} else {
			texts[item] = nil
		}
	}
	var t literalTable
	switch name {
	case "contains_any":
		t = newLiteralTable(nil, nil, texts)
	case "starts_with_any":
		t = newLiteralTable(nil, texts, nil)
	default:
		return bind(listFuncs[name], items)
	}
	hasShort := bind(strings.Contains, short)
	return func(s string) bool { return t.find(s, nil) || hasShort(s) }
}
