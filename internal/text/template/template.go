// Package template shows canonical templates: a line of text with masked variable parts, then a line per stack frame.
// Templates and all results are untrusted text.
package template

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// mask marks the parts of a template that vary, as package signature writes it.
const mask = "<*>"

// maxApart bounds how many words of two heads are between two that both have.
const maxApart = 64

// Common returns template a with the mask in place of the words of its head that are not in the head of b, in order,
// and where b has more words. It is the text of a group for people: a is the oldest template, and b each other one
// in turn.
func Common(a, b string) string {
	headA, _, _ := strings.Cut(a, "\n")
	headB, _, _ := strings.Cut(b, "\n")
	words, others := strings.Split(headA, " "), strings.Split(headB, " ")
	var head []string
	for len(words)+len(others) > 0 {
		i, j := nearest(words, others)
		if i+j > 0 {
			head = append(head, mask)
		}
		if i < len(words) {
			head = append(head, words[i])
			i, j = i+1, j+1
		}
		words, others = words[i:], others[j:]
	}
	head = slices.CompactFunc(head, func(v, w string) bool { return v == mask && w == mask })
	return strings.Join(head, " ") + a[len(headA):]
}

// nearest returns where the first words are that a and b have in common, or their ends.
func nearest(a, b []string) (i, j int) {
	for apart := range min(len(a)+len(b), maxApart) {
		for i := max(0, apart-len(b)+1); i < len(a) && i <= apart; i++ {
			if a[i] == b[apart-i] {
				return i, apart - i
			}
		}
	}
	return len(a), len(b)
}

// Differing returns v, one of several variants of a group, without the words that all of them begin with or end in.
// A word of each stays.
func Differing(v string, all []string) string {
	words := strings.Fields(v)
	least := len(words)
	for _, o := range all {
		least = min(least, len(strings.Fields(o)))
	}
	same := func(word func(words []string) string) bool {
		return !slices.ContainsFunc(all, func(o string) bool { return word(strings.Fields(o)) != word(words) })
	}
	lead, trail := 0, 0
	for lead+1 < least && same(func(w []string) string { return w[lead] }) {
		lead++
	}
	for lead+trail+1 < least && same(func(w []string) string { return w[len(w)-1-trail] }) {
		trail++
	}
	return strings.Join(words[lead:len(words)-trail], " ")
}

// Line returns a template as one line that is safe to show: its frames follow the head.
func Line(template string) string {
	lines := strings.Split(template, "\n")
	for i, line := range lines {
		lines[i] = text.Safe(line, 0)
	}
	return strings.Join(lines, " | ")
}
