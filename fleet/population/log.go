package population

import (
	"bytes"
	"cmp"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// The populations that are compared. A log may be in both: Before|After.
const (
	Neither = 0
	Before  = 1
	After   = 2
	parts   = 3
)

// in reports whether two sets of populations overlap.
func in(set, part int) bool { return set == part || set&part != 0 }

// Extent identifies a log.
type Extent struct {
	Key   string `json:"key"` // the same for a player's copies of a log
	Bytes uint64 `json:"bytes"`
	Marks []byte `json:"marks,omitempty"` // see [summary.Log]
	Part  int    `json:"part,omitempty"`

	Crashed bool `json:"crashed,omitempty"`
}

// Log has the counts of a log.
type Log struct {
	Extent
	Copies Distinct     `json:"copies"` // pseudonyms of their paths: one at least
	Player summary.Hash `json:"player"` // pseudonym

	Game     string        `json:"game,omitempty"` // "" for one that is not known, which is a game too
	Version  string        `json:"gameVersion,omitempty"`
	State    string        `json:"state"`
	Reason   string        `json:"reason,omitempty"` // of a crash
	Complete bool          `json:"complete,omitempty"`
	Records  uint64        `json:"records"`
	Mods     []Mod         `json:"mods,omitempty"`
	MoreMods int           `json:"moreMods,omitempty"`
	Groups   []LoggedGroup `json:"groups,omitempty"`
}

// Mod is a mod by its name in logs: its package id in small letters, or its name.
type Mod struct {
	ID    string `json:"id"`
	Name  string `json:"name,omitempty"`
	Named bool   `json:"named,omitempty"` // no package id is listed: ID is a name
}

// LoggedGroup is an urgent group of a log.
type LoggedGroup struct {
	Signatures  []signature.ID    `json:"signatures"`
	Template    string            `json:"template,omitempty"`
	Sample      string            `json:"sample,omitempty"`
	Disposition event.Disposition `json:"disposition"`
	Severity    event.Severity    `json:"severity"`
	Rule        string            `json:"rule"`
	Count       uint64            `json:"count"`
	Breaks      bool              `json:"breaks,omitempty"` // it breaks play
	Blame       []string          `json:"blame,omitempty"`  // ids of mods
}

// Pseudonym returns the only stored name of a player or a path: without the salt its origin cannot be found.
func Pseudonym(salt []byte, name string) summary.Hash {
	mac := hmac.New(sha256.New, salt)
	_, _ = mac.Write([]byte(name)) // never fails
	return summary.Hash(binary.BigEndian.Uint64(mac.Sum(nil)))
}

// NewLog returns the counts of a session, whose texts are scrubbed. Path and player are pseudonyms. Groups that are not
// urgent are left out. The set is the set of rules that decided them.
func NewLog(path, player summary.Hash, part int, s *summary.Session, set *rules.Set) *Log {
	game, version := summary.Game(plain(s.Facts.Game))
	l := &Log{
		Extent: Extent{s.Log.Hash.String() + player.String(), s.Log.Bytes, s.Log.Marks, part, s.State == "crashed"},
		Copies: Distinct{uint64(path)}, Player: player, Game: game, Version: version, State: s.State,
		Reason: s.Reason, Complete: s.Complete, Records: s.Records, MoreMods: s.MoreMods,
	}
	byName := map[string]string{}
	seen := map[string]bool{}
	for _, m := range s.Mods {
		mod := Mod{ID: modID(m.PackageID, m.Name), Name: plain(m.Name), Named: m.PackageID == ""}
		if mod.ID == "" || seen[mod.ID] {
			continue
		}
		seen[mod.ID] = true
		byName[m.Name] = mod.ID
		if mod.Name == mod.ID {
			mod.Name = ""
		}
		l.Mods = append(l.Mods, mod)
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		if !g.Disposition.Urgent() {
			continue
		}
		logged := LoggedGroup{
			Signatures: append([]signature.ID{g.Signature}, g.Members...),
			Template:   plain(g.Template), Sample: plain(g.Sample),
			Disposition: g.Disposition, Severity: g.Severity, Rule: g.Rule, Count: g.Count,
			Breaks: breaks(s, g, set),
		}
		slices.Sort(logged.Signatures)
		for _, b := range g.Blame {
			id := cmp.Or(modID(b.PackageID, ""), byName[b.Mod], modID("", b.Mod))
			if id != "" && !slices.Contains(logged.Blame, id) {
				logged.Blame = append(logged.Blame, id)
			}
		}
		l.Groups = append(l.Groups, logged)
	}
	return l
}

// breaks reports whether a group breaks play: the game did not go on, and the group has the harm for that.
func breaks(s *summary.Session, g *summary.Group, set *rules.Set) bool {
	m := heed.Member{Disposition: g.Disposition, Severity: g.Severity, Entries: g.Count}
	decided := event.Decision{Rule: g.Rule}
	if rule := set.Rule(g.Rule); rule != nil {
		m.Invalidates, decided.Tags = rule.Invalidates, rule.Tags
	}
	m.Effects = coalesce.EffectsOf(&decided)
	return s.Broken() && s.State != "wrong" && m.Harm() > 0
}

func modID(packageID, name string) string {
	return plain(cmp.Or(strings.ToLower(packageID), name))
}

// plain returns a text that JSON does not change, without NUL, which separates the parts of keys.
func plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "�"), "\x00", "�")
}

// of returns a key of counts of a game: the same mod or version of another game has another key.
func of(game, name string) string { return game + "\x00" + name }

// Merge adds the player's copy of the log, which is then in the populations of both. The copy whose path has the least
// pseudonym counts.
func (l *Log) Merge(other *Log) {
	copies, part := l.Copies, l.Part|other.Part
	copies.add(other.Copies)
	if other.Copies[0] < l.Copies[0] {
		*l = *other
	}
	l.Copies, l.Part = copies, part
}

// Shorter returns the keys of a player's logs that are the beginning of another log, which is at least in the same
// populations: shorter copies. Both have the same bytes up to the last mark of the shorter log; if the shorter log has
// a crash, the longer log has it, too.
func Shorter(logs []Extent) map[string]bool {
	slices.SortFunc(logs, func(a, b Extent) int {
		return cmp.Or(bytes.Compare(a.Marks, b.Marks), cmp.Compare(a.Bytes, b.Bytes))
	})
	shorter := map[string]bool{}
	for part := range parts + 1 {
		shorterIn(part, logs, shorter)
	}
	return shorter
}

// shorterIn adds the logs of exactly these populations that are the beginning of another log in them.
func shorterIn(part int, logs []Extent, shorter map[string]bool) {
	begins := func(l, other *Extent) bool {
		return len(l.Marks) > 0 && l.Bytes != other.Bytes && bytes.HasPrefix(other.Marks, l.Marks)
	}
	longest, crashed := &Extent{}, &Extent{}
	for i := range slices.Backward(logs) { // a log with all of its marks comes right after it
		l := &logs[i]
		if l.Part&part != part || (l.Part == 0) != (part == 0) {
			continue
		}
		if !l.Crashed && begins(l, longest) || l.Crashed && begins(l, crashed) {
			if l.Part == part {
				shorter[l.Key] = true
			}
			continue
		}
		if !begins(l, longest) {
			longest = l
		}
		if l.Crashed {
			crashed = l
		}
	}
}

// Failure is a log that could not be read, or not to its end, or whose player is not known, in words that are harmless
// to show.
type Failure struct {
	Path  string `json:"path" jsonschema:"Path of the log, that of an archive before the log's own."`
	Error string `json:"error" jsonschema:"Why it could not be read to its end, or that no player is in its path."`
}
