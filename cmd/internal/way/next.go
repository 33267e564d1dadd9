package way

import (
	"fmt"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing/heedsource"
)

// SessionNext returns the next steps about an item of a session: by the tools of an agent, or by the commands of a
// person or an author.
func SessionNext(class string, a *heed.Item) (next []string) {
	switch class {
	case heedsource.TemplateAgent:
		if a.StateInvalidated {
			next = append(next, "read the game's state again: what you know of it may not hold any more")
		}
		next = append(next, fmt.Sprintf("call heed/item with id %s for its samples and the entries around its cause", a.ID))
		if a.Blocking {
			next = append(next, fmt.Sprintf("acknowledge %s with attention/ack: calls are refused until then", a.ID))
		}
	case heedsource.TemplateModAuthor: // who reads it has neither the game nor its log
	default:
		number := Number(a)
		next = append(next, fmt.Sprintf("heed brief --template agent %s shows what came before and after", number))
		if a.Blocking {
			next = append(next, fmt.Sprintf("heed ack %s lets the agent's calls pass again", number))
		}
	}
	return next
}

// FileNext returns a function that returns the next steps about an item of a log, by the commands of a program.
func FileNext(program, file string) func(class string, a *heed.Item) []string {
	return func(class string, a *heed.Item) []string {
		if class == heedsource.TemplateModAuthor {
			return nil // who reads it does not have the log
		}
		return []string{fmt.Sprintf("%s explain %s:%d shows why it was decided so, and what points at whom", program, file,
			a.Cause.Pos)}
	}
}
