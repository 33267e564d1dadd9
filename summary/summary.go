package summary

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heedlog/heed/blame"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// Version is the version of [Session] as JSON.
const Version = 1

// The bounds of a Session: what is more is counted.
const (
	MaxGroups  = 1000
	MaxMods    = 2000
	MaxMembers = 16 // of the signatures of a group
	MaxBlame   = 3  // mods that a group points at
)

// Session is what is kept of one session. All texts are scrubbed of private data and harmless to show.
type Session struct {
	Version int `json:"version"` // see [Version]
	Log     Log `json:"log"`

	// Began and Ended are the first and the last time that the log shows; zero where it shows none.
	Began time.Time `json:"began,omitzero"`
	Ended time.Time `json:"ended,omitzero"`

	Facts    capture.Facts       `json:"facts"` // without the arguments of the command line
	Mods     []capture.ListedMod `json:"mods,omitempty"`
	MoreMods int                 `json:"moreMods,omitempty"` // that are not listed

	// How the game fared, as a report's verdict says.
	State    string `json:"state"`
	Reason   string `json:"reason,omitempty"` // of a crash
	Headline string `json:"headline"`

	Lines    int    `json:"lines"`
	Records  uint64 `json:"records"`
	Complete bool   `json:"complete"`           // the log was read to its end
	Headless bool   `json:"headless,omitempty"` // its beginning is missing
	Blind    bool   `json:"blind,omitempty"`    // part of it is no evidence

	// What ids of groups depend on.
	Signatures int    `json:"signatures"` // signature.Version
	Masking    uint64 `json:"masking"`    // signature.Normalizer.Version
	Rules      uint64 `json:"rules"`      // rules.Set.Hash

	// Groups are the urgent ones first, then the most frequent. Each signature names one at most.
	Groups      []Group `json:"groups,omitempty"`
	MoreGroups  int     `json:"moreGroups,omitempty"`  // that are not listed
	MoreEntries uint64  `json:"moreEntries,omitempty"` // in them
}

// Group is a group of entries of a session.
type Group struct {
	Signature   signature.ID      `json:"signature"`          // that names it
	Members     []signature.ID    `json:"members,omitempty"`  // its other signatures, in order, MaxMembers at most
	Template    string            `json:"template,omitempty"` // "" if it was not stored any more
	Disposition event.Disposition `json:"disposition"`        // the highest of its entries
	Severity    event.Severity    `json:"severity"`           // the highest
	Rule        string            `json:"rule"`               // that decided so
	Count       uint64            `json:"count"`              // entries
	First       uint64            `json:"firstLine"`
	Last        uint64            `json:"lastLine"`
	Phase       string            `json:"phase,omitempty"` // of the game at the first entry
	Blame       []Blame           `json:"blame,omitempty"` // of urgent ones, the most likely first
	Sample      string            `json:"sample,omitempty"`
}

// Blame is a mod that a group points at.
type Blame struct {
	Mod       string       `json:"mod"`
	PackageID string       `json:"packageId,omitempty"`
	Evidence  []blame.Kind `json:"evidence,omitempty"`
}

// Sound reports whether nothing broke in the session and its log shows all of it. Broken reports whether something
// broke. A session may be neither.
func (s *Session) Sound() bool { return s.State == "healthy" || s.State == "complaints" }

// Broken reports whether something broke; see Sound.
func (s *Session) Broken() bool {
	return slices.Contains([]string{"crashed", "hung", "broken", "wrong"}, s.State)
}

// Parse reads a Session that was written as JSON. Unknown fields are those of a later heed, and left out.
func Parse(data []byte) (*Session, error) {
	var s Session
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	return &s, s.Validate()
}

// ErrVersion is the error for a summary of another version of the shape.
var ErrVersion = errors.New("another version of summaries")

// Validate returns an error that names what is out of bounds.
func (s *Session) Validate() error {
	switch {
	case s.Version != Version:
		return fmt.Errorf("summary: %w: %d, want %d", ErrVersion, s.Version, Version)
	case len(s.Groups) > MaxGroups:
		return fmt.Errorf("summary: %d groups, at most %d", len(s.Groups), MaxGroups)
	case len(s.Mods) > MaxMods:
		return fmt.Errorf("summary: %d mods, at most %d", len(s.Mods), MaxMods)
	}
	seen := map[signature.ID]bool{}
	for i := range s.Groups {
		id := s.Groups[i].Signature
		if seen[id] {
			return fmt.Errorf("summary: groups[%d]: signature %v names two groups", i, id)
		}
		seen[id] = true
		if n := len(s.Groups[i].Members); n > MaxMembers {
			return fmt.Errorf("summary: groups[%d]: %d members, at most %d", i, n, MaxMembers)
		}
	}
	return nil
}
