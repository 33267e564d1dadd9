package summary

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"time"

	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
	"github.com/heedlog/heed/signature"
)

// Version is the version of [Session] as JSON.
const Version = 1

// The bounds of a Session. The rest is counted.
const (
	MaxGroups  = 1000
	MaxMods    = 2000
	MaxMembers = 16 // of the signatures of a group
	MaxBlame   = 3  // mods that a group points at
)

// Session is the summary of one session. All texts are scrubbed of private data and harmless to show.
type Session struct {
	Version int `json:"version" jsonschema:"Version of this shape."`
	Log     Log `json:"log"     jsonschema:"The log of the session."`

	Began time.Time `json:"began,omitzero" jsonschema:"The first time in the log; absent if it has none."`
	Ended time.Time `json:"ended,omitzero" jsonschema:"The last time in the log; absent if it has none."`

	Facts    capture.Facts       `json:"facts"              jsonschema:"The versions and the machine, as far as known; without the arguments of the command line."`
	Mods     []capture.ListedMod `json:"mods,omitempty"     jsonschema:"The mods that the log lists, in load order."`
	MoreMods int                 `json:"moreMods,omitempty" jsonschema:"How many mods are not listed."`

	State    string `json:"state"            jsonschema:"How the game fared, as the verdict of a replay says."`
	Reason   string `json:"reason,omitempty" jsonschema:"The probable reason of a crash."`
	Headline string `json:"headline"         jsonschema:"The state in words."`

	Lines    int    `json:"lines"              jsonschema:"Lines of the log."`
	Records  uint64 `json:"records"            jsonschema:"Records in them."`
	Complete bool   `json:"complete"           jsonschema:"The log was read to its end."`
	Headless bool   `json:"headless,omitempty" jsonschema:"The beginning of the log is missing."`
	Blind    bool   `json:"blind,omitempty"    jsonschema:"A part of the log is no evidence."`

	// What ids of groups depend on.
	Signatures int    `json:"signatures" jsonschema:"Version of signatures."`
	Masking    uint64 `json:"masking"    jsonschema:"Version of the rules' masks."`
	Rules      uint64 `json:"rules"      jsonschema:"Version of the rules."`

	Groups      []Group `json:"groups,omitempty"      jsonschema:"The urgent groups first, then the most frequent."`
	MoreGroups  int     `json:"moreGroups,omitempty"  jsonschema:"How many groups are not listed."`
	MoreEntries uint64  `json:"moreEntries,omitempty" jsonschema:"Entries in these."`
}

// Group is a group of entries of a session. A signature names one at most.
type Group struct {
	Signature   signature.ID      `json:"signature"          jsonschema:"The signature that names it." pattern:"^[0-9a-f]{16}$"`
	Members     []signature.ID    `json:"members,omitempty"  jsonschema:"Its other signatures, in order, at most 16."`
	Template    string            `json:"template,omitempty" jsonschema:"Its text with variable parts masked; absent if it was not stored any more."`
	Canonical   string            `json:"canonical,omitempty" jsonschema:"Of an urgent one, the whole template of the signature that names it, where template is not that; absent if it is too long or has private text."`
	Disposition event.Disposition `json:"disposition"        jsonschema:"The highest of its entries."`
	Severity    event.Severity    `json:"severity"           jsonschema:"The highest of its entries."`
	Rule        string            `json:"rule"               jsonschema:"The rule that decided about the most urgent ones."`
	Count       uint64            `json:"count"              jsonschema:"Its entries."`
	First       uint64            `json:"firstLine"          jsonschema:"Line of the first."`
	Last        uint64            `json:"lastLine"           jsonschema:"Line of the last."`
	Phase       string            `json:"phase,omitempty"    jsonschema:"The phase of the game at the first."`
	Blame       []Blame           `json:"blame,omitempty"    jsonschema:"Mods that an urgent one points at, the most likely first."`
	Sample      string            `json:"sample,omitempty"   jsonschema:"The text of an urgent one."`
}

// Blame is a mod that a group points at.
type Blame struct {
	Mod       string       `json:"mod"                 jsonschema:"Its name."`
	PackageID string       `json:"packageId,omitempty" jsonschema:"Its package id, if known."`
	Evidence  []blame.Kind `json:"evidence,omitempty"  jsonschema:"What points at it, the strongest first."`
}

// Sound reports whether nothing broke in the session and its log shows all of it. Broken reports whether something
// broke. A session may be neither.
func (s *Session) Sound() bool { return s.State == "healthy" || s.State == "complaints" }

// Broken reports whether something broke; see Sound.
func (s *Session) Broken() bool {
	return slices.Contains([]string{"crashed", "hung", "broken", "wrong"}, s.State)
}

var gameVersion = regexp.MustCompile(`^(\S.*?)\s+([vV]?\d+\.\d.*)$`)

// Game returns the name and the version of a game as a log has them in one, such as "RimWorld 1.6.4566 rev607".
func Game(nameAndVersion string) (name, version string) {
	if m := gameVersion.FindStringSubmatch(nameAndVersion); m != nil {
		return m[1], m[2]
	}
	return nameAndVersion, ""
}

// Whole reports whether the session lists all groups: its log was read whole and not blind, and no group is left out.
func (s *Session) Whole() bool {
	return s.Complete && !s.Headless && !s.Blind && s.MoreGroups == 0
}

// Parse reads a Session that was written as JSON. Unknown fields are of a later heed, and left out.
func Parse(data []byte) (*Session, error) {
	var s Session
	if err := json.Unmarshal(data, &s); err != nil {
		return nil, fmt.Errorf("summary: %w", err)
	}
	return &s, s.Validate()
}

// Validate returns an error that names the field out of bounds.
func (s *Session) Validate() error {
	switch {
	case s.Version != Version:
		return fmt.Errorf("summary: another version of summaries: %d, want %d", s.Version, Version)
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
