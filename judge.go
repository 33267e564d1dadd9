package heed

import (
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// Judge lets a host have the last word about an entry, after the rules: what
// they cannot know, such as which tool is being tried out. It is called for each
// entry but the host's own acts, with the engine's lock held, so it must be quick
// and must not call the engine; and its answer must depend on its arguments
// alone, or a replay will not be what happened. It must not keep or change e.
//
// An answer under another rule should be a constant of the host's: at most 64
// characters of its name are kept, after "host.". Where Judge panics the rules'
// decision stands, and Stats counts it.
type Judge interface {
	Judge(e *event.Entry, s signature.Signature, byRules event.Decision) event.Decision
}

// judge asks the host about e.entry. The lock is held.
func (e *Engine) judge(s signature.Signature, d *event.Decision) {
	defer func() {
		if recover() != nil {
			e.judgePanics++
		}
	}()
	own := e.judged.Judge(&e.entry, s, *d)
	if own.Rule != d.Rule {
		own.Rule = hostRule + text.Safe(strings.TrimPrefix(own.Rule, hostRule), maxReportKey)
	}
	own.Disposition = min(own.Disposition, event.Blocking)
	own.Severity = min(own.Severity, event.SeverityFatal)
	own.Tags = d.Tags
	*d = own
}
