package report

import (
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// texts has the texts of a language by the English ones: sentences of the first screen and of rules. Without one, a
// text stays English; nil is English.
type texts map[string]string

// say returns a text, with its arguments if it has any.
func (t texts) say(english string, args ...any) string {
	if own := t[english]; own != "" {
		english = own
	}
	if len(args) == 0 {
		return english
	}
	return fmt.Sprintf(english, args...)
}

// one returns the first text for one thing, and the second for any other number.
func (t texts) one(n uint64, one, many string, args ...any) string {
	if n == 1 {
		many = one
	}
	return t.say(many, args...)
}

// number returns a number with the separator of thousands.
func (t texts) number(n uint64) string { return strings.ReplaceAll(text.Number(n), ",", t.say(",")) }

func (t texts) times(n uint64) string {
	switch n {
	case 1:
		return t.say("once")
	case 2:
		return t.say("twice")
	}
	return t.say("%s times", t.number(n))
}
