package brief

import (
	"fmt"
	"hash/fnv"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/agent/briefing"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/internal/report"
	"github.com/heedlog/heed/rules"
)

// half is a part of the logs, by a hash of their names: on one half things are developed.
type half string

const (
	developed half = "logs developed on"
	other     half = "other logs"
)

func halfOf(path string) half {
	h := fnv.New32a()
	_, _ = h.Write([]byte(filepath.Base(path)))
	return []half{developed, other}[h.Sum32()%2]
}

// problems counts the problems that the first screen of a report names, and that a brief at the end of the log shows.
// A brief of everything open shows a problem if a line of it has the beginning of its text, or an own line has its
// title and its line or number of entries.
type problems map[problem]count

// problem is the place of a count in the table.
type problem struct {
	half
	name   string
	tokens int
}

// familyShare is the name of the share of labeled blocking records whose family has a line in the brief.
const familyShare = "families"

// counted ends the name of a problem that is shown with its exact number of entries, if there are several.
const counted = ", counted"

var problemNames = []string{"worst", "worst" + counted, "most", "most" + counted, "first", familyShare}

// add counts so many parts of a problem, and whether they are shown.
func (p problems) add(at problem, has bool, parts int) {
	c := p[at]
	for range parts {
		c.add(has, true)
	}
	p[at] = c
}

// String returns the table.
func (p problems) String() string {
	var b []byte
	for _, h := range []half{developed, other} {
		b = fmt.Appendf(b, "\nproblems of the first screen in a brief at the end, %s\n%6s", h, "tokens")
		for _, name := range problemNames {
			b = fmt.Appendf(b, " %16s", name)
		}
		for _, tokens := range budgets {
			b = fmt.Appendf(b, "\n%6d", tokens)
			for _, name := range problemNames {
				c := p[problem{h, name, tokens}]
				b = fmt.Appendf(b, " %16s", fmt.Sprintf("%d of %d", c.has, c.of))
			}
		}
		b = append(b, '\n')
	}
	return string(b)
}

// measureNamed compares briefs with the first screens of reports, log by log. Misses are of logs developed on.
func measureNamed(paths []string, labeled string, set *rules.Set) (problems, []string, error) {
	families, err := familiesOf(labeled)
	if err != nil {
		return nil, nil, err
	}
	p, misses := problems{}, []string(nil)
	for _, path := range paths {
		doc, g, err := reported(path, set)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
		}
		lines, h := g.lines, halfOf(path)
		for _, tokens := range budgets {
			b, err := g.brief("", tokens)
			if err != nil {
				return nil, nil, fmt.Errorf("%s: %w", filepath.Base(path), err)
			}
			shown := strings.Split(b.Text, "\n")
			miss := func(name, of string) {
				if h == developed {
					misses = append(misses, fmt.Sprintf("%s: %d tokens: no %s: %s", filepath.Base(path), tokens, name, of))
				}
			}
			for _, c := range doc.Summary.Verdict.Causes {
				texts := []string{c.Says}
				if c.Says == "" && c.Line > 0 && c.Line <= uint64(len(lines)) {
					texts[0] = lines[c.Line-1]
				}
				has := shows(shown, texts) || titles(shown, c.What, c.Line, c.Times)
				for _, as := range c.As {
					if !slices.Contains(problemNames, as) {
						continue
					}
					p.add(problem{h, as, tokens}, has, 1)
					if slices.Contains(problemNames, as+counted) {
						p.add(problem{h, as + counted, tokens}, has && counts(shown, c.Times), 1)
					}
					if !has {
						miss(as, fmt.Sprintf("line %d, %d times, %s %q", c.Line, c.Times, c.What, c.Says))
					}
				}
			}
			for of, f := range families {
				if of.file != filepath.Base(path) {
					continue
				}
				var texts []string
				for _, line := range f {
					texts = append(texts, lines[line-1])
				}
				has := shows(shown, texts)
				p.add(problem{h, familyShare, tokens}, has, len(f))
				if !has {
					miss(familyShare, fmt.Sprintf("%s, %d records", of.name, len(f)))
				}
			}
		}
	}
	slices.Sort(misses)
	return p, misses, nil
}

// shows reports whether data lines, one after another, have the beginning of any of texts.
func shows(brief, texts []string) bool {
	var data strings.Builder
	for _, line := range brief {
		if line, ok := strings.CutPrefix(line, briefing.DataPrefix); ok {
			data.WriteString(strings.TrimSpace(line) + " ")
		} else {
			data.WriteString("\n")
		}
	}
	shown := data.String()
	return slices.ContainsFunc(texts, func(text string) bool {
		begins := beginning(text)
		return begins != "" && strings.Contains(shown, begins)
	})
}

// titles reports whether the own lines of a fragment have the title of a problem, and its line or how often it
// came.
func titles(brief []string, what string, line, times uint64) bool {
	title := strings.ToLower(strings.TrimSuffix(what, "."))
	at := regexp.MustCompile(fmt.Sprintf(`line %d\b|\b%d times`, line, times))
	own := ""
	for _, s := range brief {
		switch {
		case strings.HasPrefix(s, briefing.DataPrefix):
			continue
		case strings.HasPrefix(s, "["):
			own = ""
		}
		own += strings.ToLower(s) + "\n"
		if strings.Contains(own, title) && at.MatchString(own) {
			return true
		}
	}
	return false
}

// counts reports whether an own line has a number of entries, in whatever words. One needs none.
func counts(brief []string, n uint64) bool {
	number := regexp.MustCompile(fmt.Sprintf(`\b%d (times|entries)\b`, n))
	return n == 1 || slices.ContainsFunc(brief, func(line string) bool {
		return !strings.HasPrefix(line, briefing.DataPrefix) && number.MatchString(line)
	})
}

// reported replays a log into a report and returns both at its end.
func reported(path string, set *rules.Set) (*report.Document, *game, error) {
	g, err := open(path, set)
	if err != nil {
		return nil, nil, err
	}
	made := report.New(g.Report(filepath.Base(path), nil))
	err = g.play(func(rec *capture.Record, o *heed.Outcome) {
		made.Observe(rec, o)
		for _, u := range g.Engine.Updates(nil) {
			made.Update(&u)
		}
	})
	made.End(g.End(nil))
	return made.Document(0), g, err
}

// family is a kind of records in a file, as annotators name it.
type family struct{ file, name string }

// familiesOf returns the lines of labeled records that block.
func familiesOf(dir string) (map[family][]int, error) {
	rows, err := table(filepath.Join(dir, "labels.csv"))
	out := map[family][]int{}
	for _, row := range rows {
		if row[labelDisposition] != "blocking" {
			continue
		}
		line, err := strconv.Atoi(row[labelLine])
		if err != nil {
			return nil, err
		}
		of := family{row[labelFile], row[labelFamily]}
		out[of] = append(out[of], line)
	}
	return out, err
}

// logsIn returns the logs of folders, those that are there.
func logsIn(dirs ...string) ([]string, error) {
	var out []string
	for _, dir := range dirs {
		for _, form := range []string{"*.log", "*.txt", "*.jsonl"} {
			found, err := filepath.Glob(filepath.Join(dir, form))
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}
