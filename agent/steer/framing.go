package steer

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// Quote begins each line of Message.Data in what Render returns, and no other line of such data can begin.
const Quote = "> "

// Render returns the text of a batch: earlier requests, the messages, and how to take them. It claims nothing about the
// work so far, since a canceled turn has no result. Author and thread are shown in one line each; the text of an
// admitted author is not changed. A batch with Rides has no frame.
func Render(b Batch) string {
	// A message in the turn itself has the framing of a steer, too.
	stops := b.Reason
	if !b.Prompts && !b.Rides {
		stops = cmp.Or(b.Reason, ReasonSteer)
	}
	var parts []string
	if len(b.Working) > 0 {
		parts = append(parts, "[What you were working on]")
		for i := range b.Working {
			parts = append(parts, b.Working[i].body())
		}
	}
	switch {
	case len(b.Messages) == 0 && b.Prompts:
		parts = append(parts,
			"You were stopped for a message that is no news any more. Please continue what you were working on.")
	case stops != "" && len(b.Messages) > 1:
		parts = append(parts, fmt.Sprintf("[%d messages arrived while you were working]", len(b.Messages)))
	case stops != "" && len(b.Messages) > 0:
		parts = append(parts, "[This arrived while you were working]")
	}
	for i := range b.Messages {
		if stops != "" || len(b.Messages) > 1 && !b.Rides {
			parts = append(parts, "From "+text.Safe(b.Messages[i].Author, maxName)+":")
		}
		parts = append(parts, b.Messages[i].body())
	}
	if b.Unknown > 0 {
		parts = append(parts, "A call to the game was in flight when you were stopped. Its outcome is unknown: read the "+
			"game's state before you repeat it.")
	}
	switch {
	case len(b.Messages) == 0 || stops == "":
	case stops == ReasonInterrupt:
		parts = append(parts, "This supersedes what you were working on: please turn to it now.")
	default:
		parts = append(parts, "Please continue what you were working on, and incorporate this if it is relevant. If it is "+
			"unrelated, acknowledge it briefly and carry on.")
	}
	if n := len(b.Messages); n > 0 && b.Messages[n-1].Thread != "" {
		parts = append(parts, "Reply in thread "+text.Safe(b.Messages[n-1].Thread, maxName)+".")
	}
	return strings.Join(parts, "\n\n")
}

// maxName bounds an author's or thread's name, in bytes.
const maxName = 120

// body returns a message's text, with its data quoted.
func (msg *Message) body() string {
	lines := []string{strings.TrimRight(msg.Text, "\n")}
	for _, d := range msg.Data {
		lines = append(lines, Quote+text.Safe(d, 0))
	}
	return strings.Join(lines, "\n")
}
