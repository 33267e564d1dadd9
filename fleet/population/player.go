package population

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

// The bounds of tables.
const (
	maxPlayerGroups = 4096 // that are counted of one player
	maxTexts        = 256  // templates, and samples, of a group
	maxRules        = 32
	maxMembers      = 64
	maxVersions     = 1024
	maxGames        = 1024
	maxMods         = 32768
	maxBlamed       = 256
)

// Totals counts players and logs, of one player or of many.
type Totals struct {
	Players     uint64        `json:"players"`
	Logs        uint64        `json:"logs"`
	Copies      uint64        `json:"copies,omitempty"` // further files that were copies
	PartPlayers [parts]uint64 `json:"partPlayers"`
	PartLogs    [parts]uint64 `json:"partLogs"`
	Incomplete  uint64        `json:"incomplete,omitempty"`
	Records     uint64        `json:"records"`
	Entries     uint64        `json:"entries"` // of urgent groups
	LeftOut     uint64        `json:"leftOut,omitempty"`
	ModMentions uint64        `json:"modMentions"`
	States      Tally         `json:"states,omitempty"`  // logs
	Crashed     Tally         `json:"crashed,omitempty"` // players by the reason of a crash; of all reasons by crashes
	Games       Tally         `json:"games,omitempty"`   // players
	PartGames   [parts]Tally  `json:"partGames"`
	Listed      Tally         `json:"listed,omitempty"`   // players by the game of logs that list mods
	Versions    Tally         `json:"versions,omitempty"` // players by game and version, see of
	Mods        Tally         `json:"mods,omitempty"`     // players by game and id
	Names       Tally         `json:"names,omitempty"`    // players by game, id and name
}

// crashes is the key of all crashes in [Totals.Crashed]. A reason that is not known is "".
const crashes = "*"

// Merge adds another.
func (t *Totals) Merge(o *Totals) {
	t.Players += o.Players
	t.Logs += o.Logs
	t.Copies += o.Copies
	for i := range parts {
		t.PartPlayers[i] += o.PartPlayers[i]
		t.PartLogs[i] += o.PartLogs[i]
		t.PartGames[i].add(o.PartGames[i], maxGames)
	}
	t.Incomplete += o.Incomplete
	t.Records += o.Records
	t.Entries += o.Entries
	t.LeftOut += o.LeftOut
	t.ModMentions += o.ModMentions
	t.States.add(o.States, maxRules)
	t.Crashed.add(o.Crashed, maxRules)
	t.Games.add(o.Games, maxGames)
	t.Listed.add(o.Listed, maxGames)
	t.Versions.add(o.Versions, maxVersions)
	t.Mods.add(o.Mods, maxMods)
	t.Names.add(o.Names, maxMods)
}

// Group is a group of the population, of one player or of many: a signature identifies a fault in one game only.
type Group struct {
	Game        string            `json:"game,omitempty"`
	Signature   signature.ID      `json:"signature"` // the least
	Members     []signature.ID    `json:"members"`   // the least ones
	Players     uint64            `json:"players"`
	Logs        uint64            `json:"logs"`
	PartPlayers [parts]uint64     `json:"partPlayers"`
	PartLogs    [parts]uint64     `json:"partLogs"`
	Entries     uint64            `json:"entries"`
	Breaks      uint64            `json:"breaks,omitempty"` // players whose play it breaks
	Disposition event.Disposition `json:"disposition"`
	Severity    event.Severity    `json:"severity"`
	Rules       Tally             `json:"rules"` // entries
	Versions    Tally             `json:"versions,omitempty"`
	Templates   Tally             `json:"templates,omitempty"`
	Samples     Tally             `json:"samples,omitempty"`
	Mentions    uint64            `json:"mentions,omitempty"` // of samples: players times samples
	Blamed      Tally             `json:"blamed,omitempty"`
	Listed      uint64            `json:"listed,omitempty"`
	Mods        Tally             `json:"mods,omitempty"` // players with the group whose logs list the mod
}

// Key is equal for groups that are merged.
func (g *Group) Key() string { return of(g.Game, g.Signature.String()) }

// Merge adds another of the same game and signature.
func (g *Group) Merge(o *Group) {
	g.Game, g.Signature = o.Game, o.Signature
	g.Members = least(maxMembers, append(slices.Clone(g.Members), o.Members...))
	g.Players += o.Players
	g.Logs += o.Logs
	for i := range parts {
		g.PartPlayers[i] += o.PartPlayers[i]
		g.PartLogs[i] += o.PartLogs[i]
	}
	g.Entries += o.Entries
	g.Breaks += o.Breaks
	g.Disposition = max(g.Disposition, o.Disposition)
	g.Severity = max(g.Severity, o.Severity)
	g.Rules.add(o.Rules, maxRules)
	g.Versions.add(o.Versions, maxVersions)
	g.Templates.add(o.Templates, maxTexts)
	g.Samples.add(o.Samples, maxTexts)
	g.Mentions += o.Mentions
	g.Blamed.add(o.Blamed, maxBlamed)
	g.Listed += o.Listed
	g.Mods.add(o.Mods, maxMods)
}

// Player has the counts of one player. Logs of one player are no independent evidence, so players are counted.
type Player struct {
	Totals
	Groups []*Group `json:"groups,omitempty"`
}

// NewPlayer returns the counts of one log for its player. Names are the names of the whole population.
func NewPlayer(log *Log, names *Names) *Player {
	if names.Shorter[log.Key] {
		return &Player{Totals: Totals{Copies: log.Copies.Count()}}
	}
	p := &Player{Totals: Totals{
		Logs: 1, Copies: log.Copies.Count() - 1, Records: log.Records,
		States: Tally{log.State: 1}, Games: Tally{log.Game: 1}, Mods: Tally{}, Names: Tally{},
	}}
	for part := range parts {
		if in(log.Part, part) {
			p.PartLogs[part] = 1
			p.PartGames[part] = Tally{log.Game: 1}
		}
	}
	if !log.Complete {
		p.Incomplete = 1
	}
	if log.Crashed {
		p.Crashed = Tally{crashes: 1, log.Reason: 1}
	}
	if log.Version != "" {
		p.Versions = Tally{of(log.Game, log.Version): 1}
	}
	ids := map[string]bool{} // that are package ids in this log
	for _, mod := range log.Mods {
		id := mod.ID
		if ids[id] = !mod.Named; mod.Named {
			id = names.mod(log.Game, id)
		}
		p.Mods[of(log.Game, id)] = 1
		if mod.Name != "" {
			p.Names[of(log.Game, of(mod.ID, mod.Name))] = 1
		}
	}
	for root, indices := range names.roots(log) {
		g := &Group{Logs: 1, PartLogs: p.PartLogs}
		if log.Version != "" {
			g.Versions = Tally{log.Version: 1}
		}
		for _, i := range indices {
			logged := &log.Groups[i]
			p.Entries += logged.Count
			more := &Group{
				Game: log.Game, Signature: root, Members: logged.Signatures, Entries: logged.Count,
				Disposition: logged.Disposition, Severity: logged.Severity, Rules: Tally{logged.Rule: logged.Count},
				Blamed: Tally{},
			}
			if logged.Breaks {
				more.Breaks = 1
			}
			if logged.Template != "" {
				more.Templates = Tally{logged.Template: 1}
			}
			if logged.Sample != "" {
				more.Samples = Tally{logged.Sample: 1}
			}
			for _, mod := range logged.Blame {
				if !ids[mod] {
					mod = names.mod(log.Game, mod)
				}
				more.Blamed[mod] = 1
			}
			g.Merge(more)
		}
		p.Groups = append(p.Groups, g)
	}
	p.trim()
	return p
}

// trim keeps the groups with the least hashes of their keys.
func (p *Player) trim() {
	if len(p.Groups) > maxPlayerGroups {
		slices.SortFunc(p.Groups, func(a, b *Group) int { return compareByHash(a.Key(), b.Key()) })
		p.Groups = p.Groups[:maxPlayerGroups]
	}
}

func compareByHash(a, b string) int {
	return cmp.Or(cmp.Compare(xxhash.Sum64String(a), xxhash.Sum64String(b)), cmp.Compare(a, b))
}

// Merge adds counts of other logs of the player.
func (p *Player) Merge(o *Player) {
	p.Totals.Merge(&o.Totals)
	byKey := make(map[string]*Group, len(p.Groups))
	for _, g := range p.Groups {
		byKey[g.Key()] = g
	}
	for _, g := range o.Groups {
		known := byKey[g.Key()]
		if known == nil {
			known = &Group{} // a copy: Merge must not change its argument
			p.Groups = append(p.Groups, known)
		}
		known.Merge(g)
	}
	p.trim()
}

// Count turns the faults that a player saw into counts of one player. Call it once, after all logs of the player are
// merged. The groups then share tables: merge them into others, and merge nothing into them.
func (p *Player) Count() (*Totals, []*Group) {
	count := func(players *uint64, partPlayers *[parts]uint64, partLogs *[parts]uint64, tallies ...Tally) {
		*players = 1
		for i, n := range partLogs {
			partPlayers[i] = min(n, 1)
		}
		for _, t := range tallies {
			t.once()
		}
	}
	t := &p.Totals
	count(&t.Players, &t.PartPlayers, &t.PartLogs, t.Games, t.Versions, t.Mods, t.Names, t.Crashed)
	for _, games := range t.PartGames {
		games.once()
	}
	t.ModMentions = uint64(len(t.Mods))
	t.Listed = Tally{}
	mods := map[string]Tally{} // by game
	for key := range t.Mods {
		game, id, _ := strings.Cut(key, "\x00")
		if mods[game] == nil {
			mods[game] = Tally{}
		}
		mods[game][id], t.Listed[game] = 1, 1
	}
	t.Listed.trim(maxGames)
	t.LeftOut = t.Entries
	for _, g := range p.Groups {
		count(&g.Players, &g.PartPlayers, &g.PartLogs, g.Versions, g.Templates, g.Samples, g.Blamed)
		g.Mentions, g.Breaks = uint64(len(g.Samples)), min(g.Breaks, 1)
		g.Mods = mods[g.Game]
		g.Listed = uint64(min(len(g.Mods), 1))
		t.LeftOut -= g.Entries
	}
	return t, p.Groups
}
