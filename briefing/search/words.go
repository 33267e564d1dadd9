package search

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/blevesearch/bleve/v2/analysis"
)

// longest bounds a word, in bytes: what is longer is no word.
const longest = 64

// analyzer gives the index the words of a text.
type analyzer struct{}

// Analyze implements analysis.Analyzer.
func (analyzer) Analyze(text []byte) analysis.TokenStream {
	words := split(string(text))
	tokens := make([]analysis.Token, len(words))
	stream := make(analysis.TokenStream, len(words))
	for i, w := range words {
		tokens[i] = analysis.Token{Term: []byte(w), Position: i + 1}
		stream[i] = &tokens[i]
	}
	return stream
}

// split returns the words of a text, in their order.
func split(text string) []string {
	var words []string
	add := func(word string) {
		if utf8.RuneCountInString(word) > 1 && len(word) <= longest {
			words = append(words, strings.ToLower(word))
		}
	}
	for len(text) > 0 {
		run := strings.IndexFunc(text, func(r rune) bool { return !unicode.IsLetter(r) || ideographic(r) })
		if run < 0 {
			run = len(text)
		}
		if run == 0 {
			r, n := utf8.DecodeRuneInString(text)
			if ideographic(r) {
				words = append(words, text[:n])
			}
			text = text[n:]
			continue
		}
		whole := text[:run]
		text = text[run:]
		parts := 0
		for rest := whole; len(rest) > 0; parts++ {
			n := part(rest)
			if n == len(rest) && parts == 0 {
				break // all of it
			}
			add(rest[:n])
			rest = rest[n:]
		}
		add(whole)
	}
	return words
}

func ideographic(r rune) bool {
	return unicode.IsLetter(r) && unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana)
}

// part returns the length of the first part of a name in camel case: HTTPServer is HTTP and Server.
func part(name string) int {
	var last, before rune
	at := 0 // of last
	for i, r := range name {
		switch {
		case unicode.IsUpper(r) && unicode.IsLower(last):
			return i
		case unicode.IsLower(r) && unicode.IsUpper(last) && unicode.IsUpper(before):
			return at
		}
		before, last, at = last, r, i
	}
	return len(name)
}
