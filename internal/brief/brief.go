// Package brief makes the service that assembles briefs about an engine, for the bridge and for commands: with an index
// of its own, and the words of each surface for what to look at next.
package brief

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/briefing"
	"github.com/heedlog/heed/briefing/heedsource"
	"github.com/heedlog/heed/briefing/search"
)

// Config sets up a [Service].
type Config struct {
	heedsource.Config // Index is made here; Place is [Line] unless it is set

	Templates []*briefing.Template // beside the built-in ones
	Roots     []string             // of files that templates may read
	Now       func() time.Time     // required

	// Scrub removes what is private, for templates and requests that ask for it. Nil: that of [heedsource.Sources].
	Scrub func(string) string
}

// Service assembles briefs. Its methods may be called from many goroutines, but not after [Service.Close].
type Service struct {
	*briefing.Service
	sources briefing.Config
	index   *search.Index
}

// New returns a service, which runs goroutines until it is closed.
func New(c Config) (*Service, error) {
	index, err := search.New(search.Config{})
	if err != nil {
		return nil, err
	}
	c.Index = index
	if c.Place == nil {
		c.Place = Line
	}
	sources := heedsource.Sources(c.Config)
	sources.Templates = append(sources.Templates, c.Templates...)
	sources.Roots, sources.Now = c.Roots, c.Now
	if c.Scrub != nil {
		sources.Scrub = c.Scrub
	}
	s, err := briefing.New(sources)
	if err != nil {
		return nil, errors.Join(err, index.Close())
	}
	return &Service{Service: s, sources: sources, index: index}, nil
}

// AssembleBy is Assemble by a template of the caller's; nil stands for the one that r chooses.
func (s *Service) AssembleBy(ctx context.Context, r briefing.Request, t *briefing.Template) (*briefing.Context, error) {
	if t == nil {
		return s.Assemble(ctx, r)
	}
	own := s.sources
	own.Templates = []*briefing.Template{t}
	service, err := briefing.New(own)
	if err != nil {
		return nil, err
	}
	c, err := service.Assemble(ctx, r)
	return c, errors.Join(err, service.Close())
}

// Close ends the service and its goroutines.
func (s *Service) Close() error { return errors.Join(s.Service.Close(), s.index.Close()) }

// Line is how a position in a log is shown.
func Line(pos uint64) string { return "line " + strconv.FormatUint(pos, 10) }

// AgentNext is what an agent does next about an item, by the tools that it has in a session.
func AgentNext(a *heed.Attention) []string {
	var next []string
	if a.StateInvalidated {
		next = append(next, "read the game's state again: what you know of it may not hold any more")
	}
	next = append(next, fmt.Sprintf("call heed/item with id %s for its samples and the entries around its cause", a.ID))
	if a.Blocking {
		next = append(next, fmt.Sprintf("acknowledge %s with attention/ack: calls are refused until then", a.ID))
	}
	return next
}

// FileNext returns what a person does next about an item of a log, by the commands of a program.
func FileNext(program, file string) func(*heed.Attention) []string {
	return func(a *heed.Attention) []string {
		return []string{fmt.Sprintf("%s explain %s:%d shows why it was decided so, and what points at whom", program, file,
			a.Cause.Pos)}
	}
}
