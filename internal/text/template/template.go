// Package template shows canonical templates: a line of text with what varies masked, then a line per stack
// frame. Templates are untrusted text; what is returned of several is as untrusted.
package template

import (
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// mask marks the parts of a template that vary, as package signature writes it.
const mask = "<*>"

// maxAligned bounds the words of each of two heads, between those that both begin with or end in, that are aligned.
const maxAligned = 128

// Common returns template a with the mask in place of the words of its head that are not in the head of b, in order, and
// where b has more words. It is the text of a group for people: a is the oldest template, and each other one is b in turn.
func Common(a, b string) string {
	headA, frames, framed := strings.Cut(a, "\n")
	headB, _, _ := strings.Cut(b, "\n")
	words, others := strings.Split(headA, " "), strings.Split(headB, " ")
	from, least := 0, min(len(words), len(others))
	for from < least && words[from] == others[from] {
		from++
	}
	end := 0
	for end < least-from && words[len(words)-1-end] == others[len(others)-1-end] {
		end++
	}
	head := slices.Concat(words[:from], align(words[from:len(words)-end], others[from:len(others)-end]), words[len(words)-end:])
	head = slices.CompactFunc(head, func(v, w string) bool { return v == mask && w == mask })
	if framed {
		return strings.Join(head, " ") + "\n" + frames
	}
	return strings.Join(head, " ")
}

// align returns the longest sequence of words that a and b have in common, with the mask where either has others.
func align(a, b []string) (common []string) {
	if len(a) == 0 && len(b) == 0 {
		return nil
	}
	if len(a) > maxAligned || len(b) > maxAligned {
		return []string{mask}
	}
	var length [maxAligned + 1][maxAligned + 1]uint8 // of the longest sequence of a from i on and b from j on
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) && j < len(b) && length[i][j] > 0 {
		switch {
		case a[i] == b[j]:
			common = append(common, a[i])
			i, j = i+1, j+1
			continue
		case length[i+1][j] >= length[i][j+1]:
			i++
		default:
			j++
		}
		if n := len(common); n == 0 || common[n-1] != mask {
			common = append(common, mask)
		}
	}
	if i < len(a) || j < len(b) {
		common = append(common, mask)
	}
	return common
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
