// Package way has the words that an agent reads of heed on each way to it: which calls of heed it has, and the refusal
// of its own calls. It also has the next steps in briefs, for an agent, a person and an author of mods.
//
//	Not executed: the plan of a group failed (22 entries in 2 groups).
//	> Exception while ticking lord with job RimWorld.LordJob_Ritual:
//	Culprit: not known
//	Next: call heed/ack with id "2", then read the game's state again, then call build again if it is still wanted.
package way

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/internal/text"
)

// Way names the calls of heed that the agent of one adapter has, each in words that follow "Next:".
type Way struct {
	Look func(item *heed.Item) string // reads a brief about an item
	Ack  func(item *heed.Item) string // acknowledges an item, as far as it was shown
	More func(item *heed.Item) string // reads more than a message holds
}

// Commands returns the way of an agent that has a shell, and acknowledges by its name. quote joins the words of a
// command, and flags select the heed.
func Commands(quote func(words ...string) string, agent string, flags []string) Way {
	run := func(args ...string) string {
		return "run `" + quote(slices.Concat([]string{"heed"}, args, flags)...) + "`"
	}
	return Way{
		Look: func(item *heed.Item) string { return run("brief", "--template", "agent", Number(item)) },
		Ack: func(item *heed.Item) string {
			return run("ack", Number(item), "--agent", agent, "--through", strconv.FormatUint(item.LatestSequence, 10))
		},
		More: func(item *heed.Item) string {
			return run("brief", "--template", "agent", "--tokens", "2000", Number(item))
		},
	}
}

// Tools returns the way of an agent that calls heed's tools, by the names that it has for them.
func Tools(brief, ack, entries string) Way {
	by := func(tool string) func(item *heed.Item) string {
		return func(item *heed.Item) string { return fmt.Sprintf("call %s with id %q", tool, Number(item)) }
	}
	return Way{Look: by(brief), Ack: by(ack), More: func(item *heed.Item) string {
		return fmt.Sprintf("call %s after %d", entries, item.DiagnosticsCursor)
	}}
}

// Number returns the number that ends the id of an item, by which an agent names it.
func Number(item *heed.Item) string {
	return item.ID[strings.LastIndexByte(item.ID, '-')+1:]
}

// Next returns the line that says how to continue after an item that blocks, and how to read more.
func (w *Way) Next(item *heed.Item) string {
	return w.next(item, "") + " For more: " + w.More(item) + "."
}

// next returns the line that says how to continue. wait is the first step without an item, "" to check the game's
// state, and then are the last ones.
func (w *Way) next(item *heed.Item, wait string, then ...string) string {
	steps := []string{cmp.Or(wait, "check the game's state")}
	if item != nil {
		steps[0] = w.Ack(item)
		if item.StateInvalidated {
			steps = append(steps, "read the game's state again")
		}
	}
	return strings.TrimPrefix(nextLine, "\n") + " " + strings.Join(append(steps, then...), ", then ") + "."
}

// nextLine begins the line of a brief, or of a message, that says what to do. A line of the game begins with
// [briefing.DataPrefix].
const nextLine = "\nNext:"

// The most lines of a brief that a message holds: of an item that blocks, and of an advisory one.
const (
	maxHead     = 10
	maxAdvisory = 2
)

// Head returns the first lines of a brief about an item: its own part, without the steps, which may name tools of
// another way.
func Head(item *heed.Item, b *briefing.Context) string {
	most := maxAdvisory
	if item.Blocking {
		most = maxHead
	}
	for i := range b.Fragments {
		if id, _, _ := strings.Cut(b.Fragments[i].SourceID, "@"); id != item.ID {
			continue
		}
		own, _, _ := strings.Cut(b.Fragments[i].Content, nextLine)
		lines := slices.DeleteFunc(strings.Split(strings.TrimSpace(own), "\n"), func(line string) bool {
			return item.Blocking && strings.HasPrefix(line, "State:") // as the last line does
		})
		lines = lines[:min(len(lines), most)]
		if _, title, ok := strings.Cut(lines[0], "] "); ok {
			lines[0] = fmt.Sprintf("Item %s, %s", Number(item), title)
		}
		if item.Blocking {
			lines = append(lines, further(item, b, lines)...)
		}
		if item.Blocking && item.Advice != "" {
			lines = append(lines, "Advice: "+text.Safe(item.Advice, maxAdvice))
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// further returns the text of further groups of an item, which an acknowledgement covers, too: from the part of a brief
// about them, without the texts that are shown.
func further(item *heed.Item, b *briefing.Context, shown []string) (lines []string) {
	for i := range b.Fragments {
		if id := b.Fragments[i].SourceID; !strings.HasPrefix(id, item.ID+"@") || !strings.HasSuffix(id, "#samples") {
			continue
		}
		for line := range strings.SplitSeq(b.Fragments[i].Content, "\n") {
			if strings.HasPrefix(line, briefing.DataPrefix) && len(lines) < maxFurther && !slices.Contains(shown, line) {
				lines = append(lines, text.Safe(line, maxAdvice))
			}
		}
	}
	if len(lines) > 0 {
		lines = slices.Insert(lines, 0, "Also in it:")
	}
	return lines
}

// The bounds of an advice and of the text of a further group, in characters, and of the further groups shown.
const (
	maxAdvice  = 300
	maxFurther = 3
)

// Refusal is the answer in place of the result of a call.
type Refusal struct {
	Tool string
	Item *heed.Item // that holds the call back
	Why  string     // without an item; else the default is the first clause of its summary
	Wait string     // the step without an item; "" to check the game's state
	Told string     // the message about the item: a line that Why replaces, and the evidence
	Rest []string   // other messages
}

// maxTool bounds the name of a tool, in characters.
const maxTool = 80

// Refuse returns the text of a refusal: why, the evidence, one way to continue, and the rest.
func (w *Way) Refuse(r Refusal) string {
	if r.Item != nil && r.Why == "" {
		after := strings.TrimPrefix(r.Item.Summary, r.Item.Title)
		count, _, _ := strings.Cut(after, "; ") // the other clauses are in the evidence, and in the last line
		r.Why = strings.TrimSuffix(r.Item.Summary, after) + count
	}
	own, _, _ := strings.Cut(r.Told, nextLine)
	lines := append([]string{"Not executed: " + r.Why + "."}, strings.Split(strings.TrimSpace(own), "\n")[1:]...)
	lines = append(lines, w.next(r.Item, r.Wait, "call "+text.Safe(r.Tool, maxTool)+" again if it is still wanted"))
	for _, other := range r.Rest {
		lines = append(lines, "", other)
	}
	return strings.Join(lines, "\n")
}
