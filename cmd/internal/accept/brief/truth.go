package brief

import (
	_ "embed"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// set is the origin of captures, and of the truth about them.
type set string

const (
	ours    set = "captures" // made for the project, to show known faults
	players set = "players"  // logs of players, read by a person
	held    set = "held out" // the same, on which nothing is developed
)

// fault is a fault that breaks play, with its facts.
type fault struct {
	set  set
	path string

	line     int      // of the true cause; 0: not known
	culprits []string // each of them is right; nil: not known
	nobody   bool     // none is to be named: a person, or who made the capture, knows of none
}

// left counts the faults that are not measured, by reason.
type left map[string]int

func (l left) String() string {
	var parts []string
	for reason, n := range l {
		parts = append(parts, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(parts)
	return strings.Join(parts, "; ")
}

//go:embed truth.csv
var own string

// table returns the rows of a table without its heading, nil where it does not exist.
func table(name string) ([][]string, error) {
	f, err := os.Open(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read from
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return rows[1:], nil
}

// ownFaults returns the faults of the project's captures.
func ownFaults(dir string) ([]*fault, error) {
	rows, err := csv.NewReader(strings.NewReader(own)).ReadAll()
	if err != nil {
		return nil, err
	}
	var out []*fault
	for _, row := range rows[1:] {
		line, err := strconv.Atoi(row[1])
		if err != nil {
			return nil, err
		}
		out = append(out, &fault{
			set: ours, path: filepath.Join(dir, row[0]), line: line, culprits: names(row[2]), nobody: row[2] == "",
		})
	}
	return out, nil
}

func names(field string) []string {
	if field == "" {
		return nil
	}
	return strings.Split(field, "|")
}

// The columns of judged.csv, and their values.
const (
	judgedFile, judgedLine, judgedBlame, judgedVerdict, judgedCause, judgedFit = 0, 1, 4, 5, 6, 7

	right = "right"      // of the item
	fits  = "R"          // of its cause, of its culprit
	none  = "abstain-ok" // no mod was blamed, rightly
)

// judgedFaults are items of players' logs that a person found to be right. Their cause and their culprit are known
// where the person found these right as well.
func judgedFaults(dir string, heldOut bool, omitted left) ([]*fault, error) {
	rows, err := table(filepath.Join(dir, "judged.csv"))
	if err != nil {
		return nil, err
	}
	var out []*fault
	for _, row := range rows {
		f := &fault{set: players, path: filepath.Join(dir, row[judgedFile])}
		if row[judgedFile] >= "p08" {
			if f.set = held; !heldOut {
				continue
			}
		}
		switch {
		case row[judgedVerdict] != right:
			omitted["readings of players' logs that are not of an item judged right"]++
			continue
		case row[judgedCause] != fits:
			omitted["items whose cause was not judged right"]++
			continue
		}
		if f.line, err = strconv.Atoi(row[judgedLine]); err != nil {
			return nil, err
		}
		if row[judgedFit] == fits {
			f.culprits = names(row[judgedBlame])
		}
		f.nobody = row[judgedFit] == none
		out = append(out, f)
	}
	return out, nil
}

// The columns of labels.csv.
const labelFile, labelLine, labelFamily, labelDisposition = 0, 1, 4, 5
