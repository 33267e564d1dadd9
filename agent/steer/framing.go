package steer

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

// Framing has the words around messages, which are configuration. An empty field has the built-in words. In each,
// {count}, {author} and {thread} are replaced by the number of messages, and the author and thread of the newest.
type Framing struct {
	Working     string `json:"working" yaml:"working"`         // heading of earlier requests
	Arrived     string `json:"arrived" yaml:"arrived"`         // heading of one message that came during a turn
	Several     string `json:"several" yaml:"several"`         // heading of several
	From        string `json:"from" yaml:"from"`               // in front of each of several, or of one with a thread
	Steer       string `json:"steer" yaml:"steer"`             // closing of a steer
	Interrupt   string `json:"interrupt" yaml:"interrupt"`     // closing of an interrupt
	Withdrawn   string `json:"withdrawn" yaml:"withdrawn"`     // in place of messages that are no news any more
	Unknown     string `json:"unknown" yaml:"unknown"`         // where a call to the game was in flight
	ReplyThread string `json:"replyThread" yaml:"replyThread"` // where to reply
}

// Quote begins each line of Message.Data in what Render returns, and no other line of such data can begin.
const Quote = "> "

// Render returns the text of a batch: earlier requests, the messages, and how to take them. It claims nothing about the
// work so far, since a canceled turn has no result. Author and thread are shown in one line each; the text of an
// admitted author is not changed. A batch with Rides has no frame.
func (f Framing) Render(b Batch) string {
	last := Message{}
	if n := len(b.Messages); n > 0 {
		last = b.Messages[n-1]
	}
	// A message in the turn itself has the framing of a steer, too.
	stops := b.Reason
	if !b.Prompts && !b.Rides {
		stops = b.Reason.orSteer()
	}
	var parts []string
	add := func(words, builtIn string, of Message) {
		parts = append(parts, strings.NewReplacer("{count}", strconv.Itoa(len(b.Messages)), "{author}",
			text.Safe(of.Author, maxName), "{thread}", text.Safe(of.Thread, maxName)).Replace(cmp.Or(words, builtIn)))
	}
	if len(b.Working) > 0 {
		add(f.Working, "[What you were working on]", last)
		for i := range b.Working {
			parts = append(parts, b.Working[i].body())
		}
	}
	switch {
	case len(b.Messages) == 0 && b.Prompts:
		add(f.Withdrawn, "You were stopped for a message that is no news any more. Please continue what you were working on.",
			last)
	case stops != "" && len(b.Messages) > 1:
		add(f.Several, "[{count} messages arrived while you were working]", last)
	case stops != "" && len(b.Messages) > 0:
		add(f.Arrived, "[This arrived while you were working]", last)
	}
	for i := range b.Messages {
		if stops != "" || len(b.Messages) > 1 && !b.Rides {
			add(f.From, "From {author}:", b.Messages[i])
		}
		parts = append(parts, b.Messages[i].body())
	}
	if b.Unknown > 0 {
		add(f.Unknown, "A call to the game was in flight when you were stopped. Its outcome is unknown: read the game's state "+
			"before you repeat it.", last)
	}
	switch {
	case len(b.Messages) == 0 || stops == "":
	case stops == ReasonInterrupt:
		add(f.Interrupt, "This supersedes what you were working on: please turn to it now.", last)
	default:
		add(f.Steer, "Please continue what you were working on, and incorporate this if it is relevant. If it is unrelated, "+
			"acknowledge it briefly and carry on.", last)
	}
	if last.Thread != "" {
		add(f.ReplyThread, "Reply in thread {thread}.", last)
	}
	return strings.Join(parts, "\n\n")
}

// maxName bounds an author's or thread's name, in bytes.
const maxName = 120

// body returns a message's text, with its data quoted.
func (msg *Message) body() string {
	lines := []string{strings.TrimRight(msg.Text, "\n")}
	if lines[0] == "" {
		lines = nil
	}
	for _, d := range msg.Data {
		lines = append(lines, Quote+text.Safe(d, 0))
	}
	return strings.Join(lines, "\n")
}
