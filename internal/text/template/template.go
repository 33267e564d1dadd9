// Package template shows canonical templates: a line of text with what varies masked, then a line per stack
// frame. Templates are untrusted text; what is returned of several is as untrusted.
package template

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// Word marks a word in which the signatures of a group differ.
const Word = "<name>"

// mask marks what varies within one signature, as package signature writes it.
const mask = "<*>"

// Common returns template a with <name> for each word of its head in which b
// differs; where either has the mask, the mask.
func Common(a, b string) string {
	headA, frames, _ := strings.Cut(a, "\n")
	headB, _, _ := strings.Cut(b, "\n")
	words, others := strings.Split(headA, " "), strings.Split(headB, " ")
	if len(words) != len(others) {
		return a
	}
	for i := range words {
		switch {
		case words[i] == others[i] || words[i] == mask:
		case others[i] == mask:
			words[i] = mask
		default:
			words[i] = Word
		}
	}
	head := strings.Join(words, " ")
	if frames != "" {
		return head + "\n" + frames
	}
	return head
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

// AppendLine appends a template as one line that is safe to show: its frames follow the head.
func AppendLine(dst []byte, template string) []byte {
	for {
		line, rest, more := strings.Cut(template, "\n")
		dst = append(dst, text.Safe(line, 0)...)
		if !more {
			return dst
		}
		dst, template = append(dst, " | "...), rest
	}
}

// Line is [AppendLine] as a string.
func Line(template string) string { return string(AppendLine(nil, template)) }
