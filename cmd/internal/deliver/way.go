package deliver

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/steer"
	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/internal/text"
)

// Way names the calls of heed that the agent of one adapter has, each in words that follow "Next:". The zero Way has
// none, and then messages name none.
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

// Tools returns the way of an agent that calls heed's tools, which its protocol shows by other names.
func Tools(shown func(tool string) string) Way {
	return Way{
		Look: func(item *heed.Item) string {
			return fmt.Sprintf("call %s with id %q", shown(bridge.ToolBrief), Number(item))
		},
		Ack: func(item *heed.Item) string {
			return fmt.Sprintf("call %s with id %q", shown(bridge.ToolAck), Number(item))
		},
		More: func(item *heed.Item) string {
			return fmt.Sprintf("call %s after %d", shown(bridge.ToolEntries), item.DiagnosticsCursor)
		},
	}
}

// next returns the line that says how to go on after an item that blocks. then is the last step, "" for none.
func (w *Way) next(item *heed.Item, then string) string {
	steps := []string{"acknowledge it"}
	if w.Ack != nil {
		steps[0] = w.Ack(item)
	}
	if item.StateInvalidated {
		steps = append(steps, "read the game's state again")
	}
	if then != "" {
		steps = append(steps, then)
	}
	return strings.TrimPrefix(nextLine, "\n") + " " + strings.Join(steps, ", then ") + "."
}

// nextLine begins the line of a brief, or of a message, that says what to do. A line of the game begins with
// [steer.Quote].
const nextLine = "\nNext:"

// The most lines of a brief that a message holds: of an item that blocks, and of an advisory one.
const (
	maxHead     = 10
	maxAdvisory = 2
)

// head returns the first lines of a brief about an item: its own part, without the steps, which may name tools of
// another way.
func head(item *heed.Item, b *bridge.Brief) string {
	most := maxAdvisory
	if item.Blocking {
		most = maxHead
	}
	for i := range b.Fragments {
		if id, _, _ := strings.Cut(b.Fragments[i].SourceID, "@"); id != item.ID {
			continue
		}
		own, _, _ := strings.Cut(b.Fragments[i].Content, nextLine)
		lines := strings.Split(strings.TrimSpace(own), "\n")
		lines = lines[:min(len(lines), most)]
		if _, title, ok := strings.Cut(lines[0], "] "); ok {
			lines[0] = fmt.Sprintf("Item %s, %s", Number(item), title)
		}
		if item.Blocking && item.Advice != "" {
			lines = append(lines, "Advice: "+text.Safe(item.Advice, maxAdvice))
		}
		return strings.Join(lines, "\n")
	}
	return ""
}

// maxAdvice bounds an advice, in characters.
const maxAdvice = 300

// refusal returns the text in place of the result of a call that an item holds back: why, the head of the brief unless
// the agent has it, one way to continue, and what else rides.
func (w *Way) refusal(item *heed.Item, tool string, ride []steer.Message) string {
	why, _, _ := strings.Cut(item.Summary, "; ") // the other clauses are in the brief, and in the last line
	lines := []string{"Not executed: " + why + "."}
	var others []string
	for i := range ride {
		msg := &ride[i]
		if msg.Topic != item.ID || msg.Through == 0 {
			others = append(others, "", steer.Framing{}.Render(steer.Batch{Messages: ride[i : i+1], Rides: true}))
			continue
		}
		own, _, _ := strings.Cut(msg.Text, nextLine)
		lines = append(lines, strings.Split(own, "\n")[1:]...) // the first is the summary
	}
	lines = append(lines, w.next(item, "call "+tool+" again if it is still wanted"))
	return strings.Join(append(lines, others...), "\n")
}
