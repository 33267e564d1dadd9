package bridge

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/agent/briefing/heedsource"
	"github.com/heedlog/heed/cmd/internal/way"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/text"
)

// MaxBriefTokens bounds a brief, by any template.
const MaxBriefTokens = 8000

// The bounds of briefs in time, and of the brief in a refusal, which never waits for one.
const (
	briefWithin        = 5 * time.Second
	refusalBriefTokens = 200
	refusalBriefWithin = 50 * time.Millisecond
)

// Briefer assembles a brief, as [briefing.Service.Assemble] does.
type Briefer func(context.Context, briefing.Request) (*briefing.Context, error)

// Brief holds the facts about a fault.
type Brief struct {
	briefing.Context

	Behind string `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// BriefArgs are the arguments of heed/brief.
type BriefArgs struct {
	ID           Ref    `json:"id,omitempty" minimum:"1" maximum:"256" jsonschema:"The id of an item, or the number that ends it, or of an operation. Without it, the brief is about all that is open."`
	Tokens       int    `json:"tokens,omitempty" minimum:"200" maximum:"8000" jsonschema:"The most tokens. Without it, as many as the template allows."`
	Template     string `json:"template,omitempty" enum:"agent,person,mod_author" jsonschema:"Whom it is for: an agent (the default), the person who plays, or the author of a mod."`
	TemplateText string `json:"templateText,omitempty" maximum:"65536" jsonschema:"A template of your own, as YAML, in place of template."`
	Format       string `json:"format,omitempty" enum:"text,markdown" jsonschema:"The form of the text. Without it, text."`
}

// brief answers heed/brief.
func (d *Diagnostics) brief(ctx context.Context, consumer string, in BriefArgs) (*Brief, error) {
	if d.briefer == nil {
		return nil, gabp.Errorf(gabp.CodeToolUnavailable, "this heed assembles no briefs")
	}
	r := briefing.Request{
		AgentID: consumer, TemplateOverride: cmp.Or(in.Template, heedsource.TemplateAgent),
		MaxContextTokens: in.Tokens,
	}
	if in.TemplateText != "" {
		if in.Template != "" {
			return nil, gabp.BadArgument("template", "either template or templateText", "both")
		}
		own, err := briefing.Parse("templateText", []byte(in.TemplateText))
		if err != nil {
			return nil, gabp.BadArgument("templateText", "a template: "+said(err.Error()), "another text")
		}
		r.Template, r.TemplateOverride = own, own.TemplateID
		if most := own.Budget.MaxContextTokens; in.Tokens == 0 && (most == 0 || most > MaxBriefTokens) {
			r.MaxContextTokens = MaxBriefTokens
		}
	}
	r.AgentClass = r.TemplateOverride
	behind := d.sync(ctx)
	if id := string(in.ID); id != "" {
		r.WorkOrderID = d.session.ItemID(id)
		if _, held := d.session.Item(r.WorkOrderID); !held {
			r.WorkOrderID = id
			if !d.session.Verdict(id).Known {
				return nil, notHeld("id", "the id of an item, or its number, or that of an operation",
					"what is not known; "+d.openNumbers())
			}
		}
	}
	ctx, cancel := context.WithTimeout(ctx, briefWithin)
	defer cancel()
	c, err := d.briefer(ctx, r)
	switch {
	case errors.Is(err, briefing.ErrRequired):
		return nil, gabp.BadArgument("tokens", "as many as what blocks takes: "+said(err.Error()), "fewer")
	case err != nil:
		return nil, gabp.Errorf(gabp.CodeToolFailed, "%s", said(err.Error()))
	}
	out := Brief{Context: *c, Behind: behind}
	for i := range out.Fragments {
		out.Fragments[i].Refs = nil // for stages of the pipeline alone: text of peers as it is
	}
	if in.Format == "markdown" {
		out.Text = c.Markdown()
	}
	return &out, nil
}

// briefHead returns the head of a short brief about an item for the answer to a refused call. If the brief is late, it
// has the first sample and the blamed mods.
func (d *Diagnostics) briefHead(ctx context.Context, item *heed.Item) string {
	if d.briefer == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, refusalBriefWithin)
	defer cancel()
	head := make(chan string, 1)
	go func() {
		c, err := d.briefer(ctx, briefing.Request{
			AgentClass: heedsource.TemplateAgent, TemplateOverride: heedsource.TemplateAgent, WorkOrderID: item.ID,
			MaxContextTokens: refusalBriefTokens,
		})
		if err != nil {
			c = &briefing.Context{}
		}
		head <- way.Head(item, c)
	}()
	select {
	case said := <-head:
		return said
	case <-ctx.Done():
		said := "Item " + way.Number(item)
		if len(item.Sample) > 0 {
			said += "\n" + briefing.DataPrefix + text.Safe(item.Sample[0].Message, aroundChars)
		}
		if len(item.Blame) > 0 {
			said += "\nCulprit: " + text.Safe(strings.Join(item.Blame, ", "), aroundChars)
		}
		return said
	}
}
