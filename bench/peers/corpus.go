package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/heedlog/heed/bench/workload"
	"github.com/heedlog/heed/capture"
	"github.com/heedlog/heed/event"
)

// line is a log line. All peers get the same text; heed gets the stack separately, as from a host.
type line struct {
	text    string
	message string
	stack   string
	level   event.Level
}

// corpus has the measured lines.
type corpus struct {
	Name  string
	About string
	Lines []line
}

// stormLines is how many lines a storm has. They take turns, so that from the
// second turn on all is known.
const stormLines = 1 << 14

// corpora makes or reads every corpus. It leaves out a missing corpus, and calls skipped.
func corpora(skipped func(name, why string)) ([]*corpus, error) {
	list := []*corpus{
		storm("ids", workload.IDs, fmt.Sprintf("%d templates, ids and coordinates change", workload.Templates)),
		storm("same", workload.Same, "one line again and again"),
		storm("distinct", workload.Distinct, "no two lines alike"),
	}
	captures := []struct{ name, dir, pattern, missing string }{
		{name: "captures", dir: filepath.Join("..", "..", "testdata", "captures"), pattern: "*.*"},
		{
			name: "rimworld", dir: dataDir("rimworld"), pattern: "*.log",
			missing: "no reference captures; set HEED_DATA to the folder that holds rimworld/",
		},
	}
	for _, c := range captures {
		files, err := filepath.Glob(filepath.Join(c.dir, c.pattern))
		if err != nil {
			return nil, err
		}
		if c.dir == "" || len(files) == 0 {
			if c.missing == "" {
				return nil, fmt.Errorf("no capture in %s: run in the folder bench/peers", c.dir)
			}
			skipped(c.name, c.missing)
			continue
		}
		records := &corpus{Name: c.name, About: "log records, each with its stack"}
		single := &corpus{Name: c.name + "-lines", About: "the same files line by line, but for blank lines"}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			if err := records.addRecords(data); err != nil {
				return nil, fmt.Errorf("%s: %w", file, err)
			}
			single.addLines(data)
		}
		list = append(list, records, single)
	}
	sets, err := loghub(dataDir("loghub"))
	if err != nil {
		return nil, err
	}
	if sets == nil {
		skipped("loghub", "no line sets; set HEED_DATA to the folder that holds loghub/")
		return list, nil
	}
	return append(list, sets), nil
}

func storm(name string, mode workload.Mode, about string) *corpus {
	c := &corpus{Name: name, About: about}
	for _, text := range workload.NewStorm(mode, 1).Strings(stormLines) {
		c.add(line{text: text, message: text, level: event.LevelError})
	}
	return c
}

func (c *corpus) add(l line) { c.Lines = append(c.Lines, l) }

// addRecords adds the log records of a capture.
func (c *corpus) addRecords(data []byte) error {
	in, err := capture.NewReader(bytes.NewReader(data), capture.Options{})
	if err != nil {
		return err
	}
	var rec capture.Record
	for {
		if err := in.Next(&rec); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if !rec.IsLog() {
			continue
		}
		text := strings.Clone(rec.Message)
		if rec.Stack != "" {
			text += "\n" + rec.Stack
		}
		l := line{text: text, message: text[:len(rec.Message)], level: rec.Level}
		if rec.Stack != "" {
			l.stack = text[len(rec.Message)+1:]
		}
		c.add(l)
	}
}

// maxLine cuts lines: holes of NUL bytes are half a megabyte long.
const maxLine = 64 << 10

func (c *corpus) addLines(data []byte) {
	for raw := range bytes.Lines(data) {
		raw = bytes.Trim(raw, "\x00\r\n ")
		if len(raw) == 0 {
			continue
		}
		text := string(raw[:min(len(raw), maxLine)])
		c.add(line{text: text, message: text})
	}
}

// loghub reads the labeled line sets in dir as one corpus: a label, another
// label and the text on each line, separated by tabs.
func loghub(dir string) (*corpus, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil || dir == "" || len(files) == 0 {
		return nil, err
	}
	c := &corpus{Name: "loghub"}
	labels := map[string]bool{}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			return nil, err
		}
		in := bufio.NewScanner(f)
		in.Buffer(nil, 1<<20)
		for in.Scan() {
			fields := strings.SplitN(in.Text(), "\t", 3)
			if len(fields) != 3 {
				continue
			}
			labels[filepath.Base(file)+fields[0]] = true
			c.add(line{text: fields[2], message: fields[2], level: event.LevelError})
		}
		if err := errors.Join(in.Err(), f.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", file, err)
		}
	}
	c.About = fmt.Sprintf("%d labeled sets one after the other, %d labels", len(files), len(labels))
	return c, nil
}

// dataDir returns the folder called name of the reference data: below $HEED_DATA, or below shared/data next to heed. It
// returns "" if the folder is missing.
func dataDir(name string) string {
	root := os.Getenv("HEED_DATA")
	if root == "" {
		root = filepath.Join("..", "..", "..", "shared", "data")
	}
	dir := filepath.Join(root, name)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return ""
	}
	return dir
}
