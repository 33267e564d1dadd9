package intake

import (
	"cmp"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/fleet/population"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// Config selects the logs of a report, and how it is made.
type Config struct {
	// Patterns name files, by their population. A local folder means all logs and archives in it, at any depth.
	Patterns [3][]string
	// Split divides the population at a version of the game; "" does not.
	Split string
	// Rules are tried before the default rules.
	Rules []rules.File
	// Player finds the player in a path: the group of the expression; paths without one are of one player. "" takes the
	// first folder below [Root].
	Player string
	// Salt hides the names of players, and paths; never empty.
	Salt []byte
	// K is how many players must have a text for it to be shown.
	K int
	// JSON and HTML are the paths of the reports; "" for none.
	JSON, HTML string

	// RuleFiles are the names of the files of Rules.
	RuleFiles []string

	salt string
	set  *rules.Set // of Rules, since Validate
}

type list []string

func (l *list) String() string { return strings.Join(*l, ", ") }

func (l *list) Set(value string) error {
	*l = append(*l, value)
	return nil
}

// Flags adds the flags that set c.
func (c *Config) Flags(to *flag.FlagSet) {
	to.Var((*list)(&c.RuleFiles), "rules", "add the rules of a `FILE` or folder, again for more")
	to.Var((*list)(&c.Patterns[population.Before]), "before",
		"compare the logs of a `PATTERN`, again for more, with those of --after")
	to.Var((*list)(&c.Patterns[population.After]), "after", "the other population: a `PATTERN`, again for more")
	to.StringVar(&c.Split, "split-version", "", "compare logs of versions of their game before `V` with those since")
	to.StringVar(&c.Player, "player", "",
		"find the player in a path by the one group of a regular `EXPRESSION`, all logs without one being of one player; "+
			"without it, the first folder below the one in which all that is named is")
	to.IntVar(&c.K, "k", 5, "show a text only if `N` players have it")
	to.StringVar(&c.salt, "salt", "",
		"hash the names of players, and paths, with a `TEXT`, to compare runs; random without it")
	to.StringVar(&c.JSON, "json", "fleet.json", "write the report as JSON to a `FILE`, \"\" for none")
	to.StringVar(&c.HTML, "html", "fleet.html", "write the report as a page to a `FILE`, \"\" for none")
}

// Prepare sets c by its flags and by the patterns of the command line, and returns an error that names a wrong value.
func (c *Config) Prepare(patterns []string) (err error) {
	c.Patterns[population.Neither] = patterns
	c.Salt = []byte(c.salt)
	if c.salt == "" {
		c.Salt = make([]byte, 32)
		_, _ = rand.Read(c.Salt) // never fails
	}
	if c.Rules, err = files.AllRules(c.RuleFiles, time.Now()); err != nil {
		return err
	}
	return c.Validate()
}

// Validate returns an error that names a wrong field.
func (c *Config) Validate() error {
	if slices.IndexFunc(c.Patterns[:], func(p []string) bool { return len(p) > 0 }) < 0 {
		return errors.New("no logs named: give a folder or a pattern")
	}
	if (len(c.Patterns[population.Before]) > 0) != (len(c.Patterns[population.After]) > 0) {
		return errors.New("--before and --after go together")
	}
	for _, after := range c.Patterns[population.After] {
		if slices.ContainsFunc(c.Patterns[population.Before], func(b string) bool { return files.Same(b, after) }) {
			return fmt.Errorf("--before and --after have the same logs: %s", after)
		}
	}
	if c.Split != "" && len(c.Patterns[population.Before]) > 0 {
		return errors.New("--split-version and --before divide the logs twice: use one of them")
	}
	if _, version := population.SplitVersion(c.Split); c.Split != "" && version == "" {
		return fmt.Errorf("--split-version %s: want a version, such as 1.6.4566, or a game and a version", c.Split)
	}
	if c.K < 1 {
		return fmt.Errorf("--k %d: want 1 or more", c.K)
	}
	if len(c.Salt) == 0 {
		return errors.New("no salt for the names of players")
	}
	if c.JSON == "" && c.HTML == "" {
		return errors.New("no report to write: give --json or --html")
	}
	if c.JSON != "" && c.HTML != "" && files.Same(c.JSON, c.HTML) {
		return fmt.Errorf("--json and --html are the same file: %s", c.JSON)
	}
	var err error
	if c.set, err = compile(c.Rules); err != nil {
		return err
	}
	_, err = playerExpression(c.Player)
	return err
}

// compile compiles rules, and the default rules after them.
func compile(own []rules.File) (*rules.Set, error) {
	return rules.Compile(slices.Concat(own, rules.Defaults())...)
}

// Ended names the rules whose last day is over, after [Config.Validate].
func (c *Config) Ended() []string { return c.set.Ended() }

// Here makes the paths of this machine absolute, so that all have a root in common, and returns an error if one of them
// has no log, or if a report cannot be written, or would overwrite a log ([ErrOverwrites]). It does not change existing
// files.
func (c *Config) Here() error {
	var overwrites error
	over := func(name string) {
		for _, file := range [][2]string{{"json", c.JSON}, {"html", c.HTML}} {
			if file[1] != "" && files.Same(file[1], name) {
				overwrites = cmp.Or(overwrites, fmt.Errorf("--%s %s %w", file[0], file[1], ErrOverwrites))
			}
		}
	}
	for _, patterns := range c.Patterns {
		for i, pattern := range patterns {
			if isRemote(pattern) {
				continue
			}
			if abs, err := filepath.Abs(pattern); err == nil {
				patterns[i] = abs
			}
			if err := Match(patterns[i], nil, over); err != nil {
				return err
			}
		}
	}
	return cmp.Or(overwrites, writable(c.JSON), writable(c.HTML))
}

// ErrOverwrites is the error of a report whose file is a log.
var ErrOverwrites = errors.New("is one of the logs, and would overwrite it")

func writable(name string) error {
	if name == "" || isRemote(name) {
		return nil
	}
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a pipe would be ended by opening it
	}
	_, missing := os.Lstat(name) // a link to a missing file stays
	f, err := os.OpenFile(name, os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	if err = f.Close(); missing != nil {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

func playerExpression(expression string) (*regexp.Regexp, error) {
	if expression == "" {
		return nil, nil
	}
	re, err := regexp.Compile(expression)
	if err != nil {
		return nil, fmt.Errorf("--player: %w", err)
	}
	if re.NumSubexp() != 1 {
		return nil, fmt.Errorf("--player %s: has %d groups, want one, which is the player", expression, re.NumSubexp())
	}
	return re, nil
}

// ErrNoLog is the error of a report of nothing.
var ErrNoLog = errors.New("no log was read: see the failures in the report")

// Outcome returns the line about a report.
func (c *Config) Outcome(r *population.Report) string {
	line := fmt.Sprintf("%s of %s read, %s; the report is in %s; ", text.Count(r.Logs, "log"),
		text.Count(r.Players, "player"), text.Count(uint64(len(r.Failures))+r.MoreFailures, "failure"),
		strings.Trim(c.JSON+", "+c.HTML, ", "))
	switch {
	case c.Player != "":
		line += "players are by --player"
		if i := slices.IndexFunc(r.Failures, isNoPlayer); i >= 0 {
			line += ", which has no match in " + r.Failures[i].Path
		}
	default:
		var roots []string
		for _, patterns := range c.Patterns {
			if len(patterns) > 0 {
				roots = append(roots, cmp.Or(Root(patterns), "."))
			}
		}
		line += "a player is a folder in " + strings.Join(slices.Compact(roots), ", ")
	}
	if c.Player == "" && r.Players == 1 && r.Logs > 1 {
		line += ", so that all logs are of one: name the folder above, or use --player"
	}
	if d := r.Compared; d != nil && c.Split == "" && c.Player == "" && min(d.BeforePlayers, d.AfterPlayers) == 1 &&
		max(d.BeforePlayers, d.AfterPlayers) > 1 {
		line += fmt.Sprintf("; of %s before and %d after: name both folders in the same way, or use --player",
			text.Count(d.BeforePlayers, "player"), d.AfterPlayers)
	}
	return line + c.oneSided(r)
}

// oneSided says that a split by version leaves a side empty, and which versions there are; "" where it does not.
func (c *Config) oneSided(r *population.Report) string {
	d := cmp.Or(r.Compared, &population.Comparison{})
	if c.Split == "" || r.Logs == 0 || d.BeforePlayers > 0 && d.AfterPlayers > 0 {
		return ""
	}
	var seen []string
	for _, v := range r.Seen {
		seen = append(seen, fmt.Sprintf("%s (%s)", v.Name, text.Count(v.Count, "player")))
	}
	return fmt.Sprintf("; --split-version %s compares nothing, with %s before and %d after: the logs are of %s", c.Split,
		text.Count(d.BeforePlayers, "player"), d.AfterPlayers, cmp.Or(strings.Join(seen, ", "), "no known version"))
}
