package population

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/cohort"
	"github.com/heedlog/heed/internal/report/summary"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/signature"
)

// Version is the version of [Report] as JSON. It rises when a field goes or changes its meaning; fields may be added.
const Version = 1

// The bounds of a report.
const (
	maxShown    = 10  // mods, blamed mods, rules of a group
	maxSamples  = 3   // of a group
	maxChanges  = 200 // between populations
	maxClusters = 100
	shownGroups = 30 // of a cluster
)

// level is the probability above which a difference counts as chance.
const level = 0.05

// sure is the number of standard errors that 95 of 100 lie within.
const sure = 1.96

// The tags of the fields are their descriptions in the schema.

// Report is the result for the logs of a population. It has no names of players, and no text that fewer than K players
// have.
type Report struct {
	Version int `json:"version" jsonschema:"Version of this form."`
	K       int `json:"k" jsonschema:"How many players must have a text for it to be shown."`

	Headline string `json:"headline" jsonschema:"How many players crashed, and why, in a sentence."`

	Players    uint64    `json:"players" jsonschema:"Players whose logs were read."`
	Logs       uint64    `json:"logs" jsonschema:"Different logs that were read, those of failures that have records among them."`
	Copies     uint64    `json:"copies" jsonschema:"Further files that were copies of those, whole or shorter."`
	Incomplete uint64    `json:"incomplete" jsonschema:"Logs that could not be read to their end."`
	Records    uint64    `json:"records" jsonschema:"Records of all logs."`
	Entries    uint64    `json:"entries" jsonschema:"Records in urgent groups."`
	LeftOut    uint64    `json:"leftOut" jsonschema:"Of those, records in groups that are beyond the bounds of a player."`
	States     []Counted `json:"states" jsonschema:"Logs by how the game fared."`
	Crashed    uint64    `json:"crashedPlayers" jsonschema:"Players with a log that ends in a crash."`
	Reasons    []Counted `json:"crashReasons" jsonschema:"Players by the probable reason of a crash, without a name if it is not known; one may have several."`

	Games         []ReportGame    `json:"games" jsonschema:"Games that at least k players have, that of most first; one without a name is not known."`
	OtherGames    uint64          `json:"otherGames" jsonschema:"Games that fewer have, of the 1,024 that are counted."`
	Versions      []ReportVersion `json:"versions" jsonschema:"Versions of games that at least k players have; one may have several."`
	OtherVersions uint64          `json:"otherVersions" jsonschema:"Versions that fewer have, of the 1,024 that are counted."`
	Mods          []ReportMod     `json:"mods" jsonschema:"Mods of games that at least k players have."`
	OtherMods     uint64          `json:"otherMods" jsonschema:"Mods that are counted and have fewer players."`
	LostMods      uint64          `json:"lostModMentions" jsonschema:"Mods times players beyond the bounds of the table."`
	LostModNames  uint64          `json:"lostModNames" jsonschema:"Names beyond those by which a mod is found that a log lists without its id, estimated."`
	LostLinks     uint64          `json:"lostLinks" jsonschema:"Pairs of signatures of a group that were not linked since there are too many, estimated: such groups may be listed apart."`

	Groups      []ReportGroup `json:"groups" jsonschema:"Urgent groups, that of most players first."`
	MoreGroups  uint64        `json:"moreGroups" jsonschema:"Groups that are not listed."`
	MoreEntries uint64        `json:"moreEntries" jsonschema:"Records in them."`
	Tested      uint64        `json:"modsTested" jsonschema:"Mods that were looked at for all groups, for which p is corrected."`

	Compared *Comparison `json:"compared,omitempty" jsonschema:"What differs between two populations."`

	// Seen are games with their versions, however few have them: for a person who has the logs.
	Seen []Counted `json:"-"`

	Clusters      []Cluster `json:"clusters" jsonschema:"Logs that are alike by their urgent groups, of at least k players each."`
	OtherClusters uint64    `json:"otherClusters" jsonschema:"Clusters that are not listed."`
	OtherLogs     uint64    `json:"otherLogs" jsonschema:"Logs that are in none of those listed."`

	Failures     []Failure `json:"failures" jsonschema:"Files that could not be read to their end, and logs that count although no player is in their path, by path."`
	MoreFailures uint64    `json:"moreFailures" jsonschema:"Those that are not listed."`
}

// Counted is a name and how many have it.
type Counted struct {
	Name  string `json:"name" jsonschema:"What is counted."`
	Count uint64 `json:"count" jsonschema:"How many."`
}

// ReportGame is a game with how many players have it.
type ReportGame struct {
	Name    string `json:"name,omitempty" jsonschema:"Its name; absent for logs that do not have it."`
	Players uint64 `json:"players" jsonschema:"Players with logs of it."`
	Listed  uint64 `json:"listed" jsonschema:"Of those, players whose logs list mods."`
	Before  uint64 `json:"before,omitempty" jsonschema:"Players in the population before, where two are compared."`
	After   uint64 `json:"after,omitempty" jsonschema:"Players in that after."`
}

// ReportVersion is a version of a game and how many players have it.
type ReportVersion struct {
	Game string `json:"game,omitempty" jsonschema:"The game."`
	Counted
}

// ReportMod is a mod of a game with how many players have it.
type ReportMod struct {
	Game    string `json:"game,omitempty" jsonschema:"The game."`
	ID      string `json:"id" jsonschema:"Package id, or the name where there is none."`
	Name    string `json:"name,omitempty" jsonschema:"Its name, if at least k players have it."`
	Players uint64 `json:"players" jsonschema:"Players whose logs list it."`
}

// ReportGroup is a group of the population. Of one with fewer than k players only the signature, rule and counts are
// shown.
type ReportGroup struct {
	Game        string            `json:"game,omitempty" jsonschema:"The game that it is of; absent where logs do not name it."`
	GameMasked  bool              `json:"gameMasked,omitempty" jsonschema:"The game is not named, since fewer than k players have it."`
	Signature   signature.ID      `json:"signature" jsonschema:"The least of its signatures."`
	Members     []signature.ID    `json:"members,omitempty" jsonschema:"Its other signatures, the least ones."`
	Template    string            `json:"template,omitempty" jsonschema:"The masked text that most players have; absent if fewer than k have it."`
	Disposition event.Disposition `json:"disposition" jsonschema:"The highest." enum:"advisory,blocking"`
	Severity    event.Severity    `json:"severity" jsonschema:"The highest."`
	Rules       []Counted         `json:"rules" jsonschema:"Entries by the rule that decided."`
	Players     uint64            `json:"players" jsonschema:"Players who have it."`
	Logs        uint64            `json:"logs" jsonschema:"Logs that have it."`
	Entries     uint64            `json:"entries" jsonschema:"Its entries."`
	Breaks      uint64            `json:"breaksPlay" jsonschema:"Players whose game did not go on with it: it ended, hung, or was damaged."`
	First       string            `json:"firstVersion,omitempty" jsonschema:"The first version of the game with it, of those that at least k players have."`
	Last        string            `json:"lastVersion,omitempty" jsonschema:"The last."`
	Samples     []Counted         `json:"samples,omitempty" jsonschema:"First lines as they stood in logs, scrubbed, each the same for at least k players."`
	Masked      uint64            `json:"maskedSamples" jsonschema:"Samples times players that are not shown, of 256 at most of each player."`
	Blamed      []Counted         `json:"blamed,omitempty" jsonschema:"Players by the mod that the text points at."`
	OtherBlamed uint64            `json:"otherBlamed" jsonschema:"Such mods that are not listed: fewer than k players have them, or ten others come first; of the 256 that are counted."`
	Mods        []Lift            `json:"mods,omitempty" jsonschema:"Mods with which players have the group more often than without, beyond chance (p of 0.05 at most), the least likely first."`
	Tested      int               `json:"modsTested" jsonschema:"Mods that were looked at."`
}

// Lift is how much more often players with a mod have a group than those without, of the players of the game whose logs
// list mods.
type Lift struct {
	ID        string  `json:"id" jsonschema:"The mod."`
	Name      string  `json:"name,omitempty" jsonschema:"Its name."`
	With      uint64  `json:"with" jsonschema:"Players with the mod."`
	WithGroup uint64  `json:"withGroup" jsonschema:"Of those, players with the group."`
	Without   uint64  `json:"without" jsonschema:"Players without the mod."`
	OnlyGroup uint64  `json:"withoutGroup" jsonschema:"Of those, players with the group."`
	P         float64 `json:"p" jsonschema:"Probability that chance alone gives as much: Fisher's exact test, corrected for the mods tested of all groups (Holm)."`

	cohort.Interval // of the ratio of the shares, with to without, at 95 %
}

// Comparison has the differences between the populations before and after.
type Comparison struct {
	BeforePlayers uint64   `json:"beforePlayers" jsonschema:"Players of the first, of all games."`
	AfterPlayers  uint64   `json:"afterPlayers" jsonschema:"Players of the second. One may be in both, and counts as two who are independent: where a fault stays with its player, that makes p too high, and no change is found for it."`
	Neither       uint64   `json:"neitherLogs" jsonschema:"Logs that are in neither."`
	Tested        int      `json:"tested" jsonschema:"Groups that were compared, for which p is corrected: those of at least k players, of games that are in both."`
	Changes       []Change `json:"changes" jsonschema:"Groups that differ beyond chance (p of 0.05 at most), the least likely by chance first."`
	More          int      `json:"moreChanges" jsonschema:"Changes that are not listed."`
}

// Change is a group that differs between two populations.
type Change struct {
	Game      string       `json:"game,omitempty" jsonschema:"The game of the group; its players alone are compared."`
	Signature signature.ID `json:"signature" jsonschema:"The group."`
	Template  string       `json:"template,omitempty" jsonschema:"As in groups."`
	What      string       `json:"what" jsonschema:"How it differs." enum:"new,gone,more,less"`
	Before    uint64       `json:"before" jsonschema:"Players before with the group."`
	After     uint64       `json:"after" jsonschema:"Players after."`
	P         float64      `json:"p" jsonschema:"As in mods, in either direction, corrected for the groups compared."`

	cohort.Interval // of the ratio of the shares, after to before, at 95 %
}

// Cluster is a set of similar logs of a game.
type Cluster struct {
	Game    string         `json:"game,omitempty" jsonschema:"The game."`
	Logs    uint64         `json:"logs" jsonschema:"How many."`
	Players uint64         `json:"players" jsonschema:"Of how many players; above 1,024 to a few percent."`
	States  []Counted      `json:"states" jsonschema:"Logs by how the game fared."`
	Groups  []signature.ID `json:"groups" jsonschema:"Groups that at least half of them have, that of most first."`
	More    int            `json:"moreGroups" jsonschema:"Groups that fewer have, or that are not listed."`
}

// Parts is a population when its players, groups and sets are counted, or some of them.
type Parts struct {
	Totals   Totals       `json:"totals"`
	Lost     Lost         `json:"lost,omitzero"`
	Groups   Top[*Group]  `json:"groups"`
	Sets     Top[*Set]    `json:"sets"`
	Failures Top[Failure] `json:"failures"`
}

// Merge adds other parts, which have no group in common.
func (p *Parts) Merge(o *Parts) {
	p.Totals.Merge(&o.Totals)
	p.Lost.Edges += o.Lost.Edges
	p.Lost.Names += o.Lost.Names
	p.Groups.Merge(&o.Groups, maxGroups)
	p.Sets.Merge(&o.Sets, maxSets)
	p.Failures.Merge(&o.Failures, maxFailures)
}

// Parts returns the group as a part of a population, with only the texts that a report may show, so that a thousand
// groups fit in memory.
func (g *Group) Parts() *Parts {
	short := *g
	short.Templates, short.Samples = g.Templates.first(1), g.Samples.first(maxSamples)
	return &Parts{Groups: Top[*Group]{Kept: []*Group{&short}}}
}

// Parts returns the set as a part of a population.
func (s *Set) Parts() *Parts { return &Parts{Sets: Top[*Set]{Kept: []*Set{s}}} }

// Parts returns the failure as a part of a population.
func (f Failure) Parts() *Parts { return &Parts{Failures: Top[Failure]{Kept: []Failure{f}}} }

// NewReport makes the report. A text that fewer than k players have does not enter it.
func NewReport(p *Parts, k int) *Report {
	t := &p.Totals
	r := &Report{
		Version: Version, K: k, Players: t.Players, Logs: t.Logs, Copies: t.Copies, Incomplete: t.Incomplete,
		Records: t.Records, Entries: t.Entries, LeftOut: t.LeftOut,
		States: counted(t.States, 0, maxRules), Crashed: t.Crashed[crashes],
		Games: []ReportGame{}, Versions: []ReportVersion{}, Mods: []ReportMod{},
		LostLinks: p.Lost.Edges, LostModNames: p.Lost.Names, Groups: []ReportGroup{},
		MoreGroups: p.Groups.Others, MoreEntries: t.Entries - t.LeftOut, Clusters: []Cluster{},
		Failures: append([]Failure{}, p.Failures.Kept...), MoreFailures: p.Failures.Others,
	}
	r.Reasons = slices.DeleteFunc(counted(t.Crashed, 0, maxRules), func(c Counted) bool { return c.Name == crashes })
	r.Headline = r.headline()
	for _, game := range counted(t.Games, k, maxGames) {
		r.Games = append(r.Games, ReportGame{
			game.Name, game.Count, t.Listed[game.Name], t.PartGames[Before][game.Name], t.PartGames[After][game.Name],
		})
	}
	r.OtherGames = uint64(len(t.Games) - len(r.Games))
	for _, v := range counted(t.Versions, k, maxVersions) {
		game, version, _ := strings.Cut(v.Name, "\x00")
		r.Versions = append(r.Versions, ReportVersion{game, Counted{version, v.Count}})
	}
	r.OtherVersions = uint64(len(t.Versions) - len(r.Versions))
	r.Seen = counted(t.Versions, 0, maxShown)
	for i := range r.Seen {
		r.Seen[i].Name = strings.Replace(r.Seen[i].Name, "\x00", " ", 1)
	}
	names := map[string]string{} // by game and id
	for _, key := range t.Names.ranked() {
		end := strings.LastIndexByte(key, 0)
		if _, ok := names[key[:end]]; !ok && t.Names[key] >= uint64(k) {
			names[key[:end]] = key[end+1:]
		}
	}
	r.LostMods = t.ModMentions
	mods := map[string][]ReportMod{} // by game
	for _, key := range t.Mods.ranked() {
		r.LostMods -= t.Mods[key]
		if t.Mods[key] < uint64(k) {
			r.OtherMods++
			continue
		}
		game, id, _ := strings.Cut(key, "\x00")
		mod := ReportMod{Game: game, ID: id, Name: names[key], Players: t.Mods[key]}
		r.Mods = append(r.Mods, mod)
		mods[game] = append(mods[game], mod)
	}
	for _, g := range p.Groups.Kept {
		shown := r.group(g, t)
		if g.Players >= uint64(k) {
			lift(&shown, g, mods[g.Game], t.Listed[g.Game])
			r.Tested += uint64(shown.Tested)
		}
		r.Groups = append(r.Groups, shown)
		r.MoreEntries -= g.Entries
	}
	r.correct()
	r.compare(p)
	r.cluster(p)
	return r
}

// headline returns how many players crashed, and why. A reason is a word of heed, never a text of a log.
func (r *Report) headline() string {
	reasons := make([]string, len(r.Reasons))
	for i, c := range r.Reasons {
		reasons[i] = cmp.Or(strings.ReplaceAll(c.Name, "_", " "), "for an unknown reason")
	}
	says := fmt.Sprintf("%d of %s crashed", r.Crashed, text.Count(int(r.Players), "player"))
	switch {
	case r.Crashed > 1 && len(reasons) == 1:
		says += ", all " + reasons[0]
	case len(reasons) == 1:
		says += ", " + reasons[0]
	case r.Crashed > 0:
		for i, c := range r.Reasons {
			reasons[i] = fmt.Sprintf("%d %s", c.Count, reasons[i])
		}
		says += ": " + strings.Join(reasons, ", ")
	}
	return says + "."
}

// counted returns those that at least k have, the most frequent first.
func counted(t Tally, k, most int) []Counted {
	all := []Counted{}
	for _, name := range t.ranked() {
		if t[name] >= uint64(k) && len(all) < most {
			all = append(all, Counted{name, t[name]})
		}
	}
	return all
}

func (r *Report) group(g *Group, t *Totals) ReportGroup {
	shown := ReportGroup{
		Signature: g.Signature, Disposition: g.Disposition, Severity: g.Severity,
		Rules: counted(g.Rules, 0, maxShown), Players: g.Players, Logs: g.Logs, Entries: g.Entries,
		Breaks: g.Breaks,
	}
	shown.Members = slices.DeleteFunc(slices.Clone(g.Members), func(id signature.ID) bool { return id == g.Signature })
	k := uint64(r.K)
	if max(t.Games[g.Game], g.Players) >= k {
		shown.Game = g.Game
	} else {
		shown.GameMasked = true
	}
	if shown.Masked = g.Mentions; g.Players < k {
		return shown
	}
	if templates := counted(g.Templates, r.K, 1); len(templates) > 0 {
		shown.Template = templates[0].Name
	}
	shown.Samples = counted(g.Samples, r.K, maxSamples)
	for _, s := range shown.Samples {
		shown.Masked -= s.Count
	}
	versions := slices.DeleteFunc(slices.SortedFunc(maps.Keys(g.Versions), compareVersions), func(version string) bool {
		return t.Versions[of(g.Game, version)] < k
	})
	if len(versions) > 0 {
		shown.First, shown.Last = versions[0], versions[len(versions)-1]
	}
	for _, mod := range g.Blamed.ranked() {
		if max(t.Mods[of(g.Game, mod)], g.Blamed[mod]) < k || len(shown.Blamed) == maxShown {
			shown.OtherBlamed++
		} else {
			shown.Blamed = append(shown.Blamed, Counted{mod, g.Blamed[mod]})
		}
	}
	return shown
}

// lift tests the mods of a group's game, where listed is how many players of the game have logs that list mods. It
// leaves those that may be beyond chance, not corrected.
func lift(shown *ReportGroup, g *Group, mods []ReportMod, listed uint64) {
	for _, mod := range mods {
		if mod.Players >= listed {
			continue // all players have it, so there is no comparison; or the game is beyond the bounds of the table
		}
		t := cohort.Table{
			With: mod.Players, WithFault: g.Mods[mod.ID], Without: listed - mod.Players,
			WithoutFault: g.Listed - g.Mods[mod.ID],
		}
		lift := Lift{
			ID: mod.ID, Name: mod.Name, With: t.With, WithGroup: t.WithFault, Without: t.Without, OnlyGroup: t.WithoutFault,
			Interval: t.Lift(sure),
		}
		shown.Tested++
		if lift.Value <= 1 {
			continue // nothing to prove
		}
		if lift.P = t.P(); lift.P <= level {
			shown.Mods = append(shown.Mods, lift)
		}
	}
}

// correct corrects p of mods for the tests of all groups (Holm), and keeps the mods that are beyond chance. Mods that
// are left out already would come after the others.
func (r *Report) correct() {
	var all []*float64
	for i := range r.Groups {
		for j := range r.Groups[i].Mods {
			all = append(all, &r.Groups[i].Mods[j].P)
		}
	}
	cohort.Holm(all, int(r.Tested))
	for i := range r.Groups {
		mods := slices.DeleteFunc(r.Groups[i].Mods, func(l Lift) bool { return l.P > level })
		slices.SortStableFunc(mods, func(a, b Lift) int {
			return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(b.Low, a.Low), cmp.Compare(a.ID, b.ID))
		})
		r.Groups[i].Mods = mods[:min(len(mods), maxShown)]
		for j := range r.Groups[i].Mods {
			round(&mods[j].Interval, &mods[j].P)
		}
	}
}

// round leaves three digits: more would be noise, and would make reports depend on the processor.
func round(i *cohort.Interval, p *float64) {
	for _, v := range []*float64{&i.Value, &i.Low, &i.High, p} {
		*v, _ = strconv.ParseFloat(strconv.FormatFloat(*v, 'g', 3, 64), 64)
		if math.IsInf(*v, 0) {
			*v = -1
		}
	}
}

func (r *Report) compare(p *Parts) {
	t := &p.Totals
	c := &Comparison{
		BeforePlayers: t.PartPlayers[Before], AfterPlayers: t.PartPlayers[After], Neither: t.PartLogs[Neither],
		Changes: []Change{},
	}
	if c.BeforePlayers+c.AfterPlayers == 0 {
		return
	}
	r.Compared = c
	for i, g := range p.Groups.Kept {
		had, has := g.PartPlayers[Before], g.PartPlayers[After]
		before, after := t.PartGames[Before][g.Game], t.PartGames[After][g.Game]
		if g.Players < uint64(r.K) || had+has == 0 || before == 0 || after == 0 {
			continue
		}
		change := Change{
			Game: g.Game, Signature: g.Signature, Template: r.Groups[i].Template, What: "more", Before: had, After: has,
		}
		table := cohort.Table{With: after, WithFault: has, Without: before, WithoutFault: had}
		change.Interval = table.Lift(sure)
		switch {
		case had == 0:
			change.What = "new"
		case has == 0:
			change.What = "gone"
		case change.Value < 1:
			change.What = "less"
		}
		other := cohort.Table{With: before, WithFault: had, Without: after, WithoutFault: has}
		change.P = min(1, 2*min(table.P(), other.P()))
		c.Changes = append(c.Changes, change)
	}
	c.Tested = len(c.Changes)
	chances := make([]*float64, c.Tested)
	for i := range c.Changes {
		chances[i] = &c.Changes[i].P
	}
	cohort.Holm(chances, c.Tested)
	for i := range c.Changes {
		round(&c.Changes[i].Interval, &c.Changes[i].P)
	}
	c.Changes = slices.DeleteFunc(c.Changes, func(c Change) bool { return c.P > level })
	slices.SortStableFunc(c.Changes, func(a, b Change) int {
		return cmp.Or(cmp.Compare(a.P, b.P), cmp.Compare(b.Before+b.After, a.Before+a.After),
			cmp.Compare(a.Signature, b.Signature), cmp.Compare(a.Game, b.Game))
	})
	c.More = max(0, len(c.Changes)-maxChanges)
	c.Changes = c.Changes[:len(c.Changes)-c.More]
}

func (r *Report) cluster(p *Parts) {
	r.OtherLogs = r.Logs
	for _, c := range clusters(p.Sets.Kept) {
		if c.Players.Count() < uint64(r.K) || len(r.Clusters) == maxClusters {
			r.OtherClusters++
			continue
		}
		shown := Cluster{Game: c.Game, Logs: c.Logs, Players: c.Players.Count(), States: counted(c.States, 0, maxRules)}
		shown.Groups = slices.Clone(c.Groups)
		slices.SortFunc(shown.Groups, func(a, b signature.ID) int {
			return cmp.Or(cmp.Compare(c.of[b], c.of[a]), cmp.Compare(a, b))
		})
		n := 0
		for n < len(shown.Groups) && n < shownGroups && 2*c.of[shown.Groups[n]] >= c.Logs {
			n++
		}
		shown.Groups, shown.More = append([]signature.ID{}, shown.Groups[:n]...), len(shown.Groups)-n
		r.Clusters = append(r.Clusters, shown)
		r.OtherLogs -= c.Logs
	}
	r.OtherClusters += p.Sets.Others
}

// JSON returns the report, with a line feed.
func (r *Report) JSON() []byte {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(r); err != nil {
		panic("BUG: population: " + err.Error())
	}
	return out.Bytes()
}

// Sum makes the report of logs, which may have copies, and of failures, one for each path, in one process.
func Sum(logs []*Log, failures []Failure, k int) *Report {
	byKey := map[string]*Log{}
	for _, log := range logs {
		if known := byKey[log.Key]; known != nil {
			known.Merge(log)
		} else {
			first := *log
			byKey[log.Key] = &first
		}
	}
	byPlayer := map[summary.Hash][]*Log{}
	extents := map[summary.Hash][]Extent{}
	links := &Links{K: k}
	for _, log := range byKey {
		byPlayer[log.Player] = append(byPlayer[log.Player], log)
		extents[log.Player] = append(extents[log.Player], log.Extent)
		links.Observe(log)
	}
	for _, logs := range extents {
		links.Merge(&Links{Shorter: Shorter(logs)})
	}
	names, lost := links.Resolve()
	parts := &Parts{Lost: lost}
	sets, groups := map[string]*Set{}, map[string]*Group{}
	for _, logs := range byPlayer {
		player := &Player{}
		for _, log := range logs {
			player.Merge(NewPlayer(log, names))
			if names.Shorter[log.Key] {
				continue
			}
			set := NewSet(log, names)
			if sets[set.Key()] == nil {
				sets[set.Key()] = &Set{}
			}
			sets[set.Key()].Merge(set)
		}
		totals, seen := player.Count()
		parts.Totals.Merge(totals)
		for _, g := range seen {
			if groups[g.Key()] == nil {
				groups[g.Key()] = &Group{}
			}
			groups[g.Key()].Merge(g)
		}
	}
	for _, f := range failures {
		parts.Merge(f.Parts())
	}
	for _, g := range groups {
		parts.Merge(g.Parts())
	}
	for _, s := range sets {
		parts.Merge(s.Parts())
	}
	return NewReport(parts, k)
}
