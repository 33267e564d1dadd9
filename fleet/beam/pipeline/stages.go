package pipeline

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// maxError bounds the words about a file that was not read, in characters.
const maxError = 400

// Source is the populations that a file belongs to, and how long the path is below which its player is.
type Source struct {
	Part, Root int
}

// Root returns the folder below which the first folder is that of a player: the longest in which all that patterns name
// is, without wildcards. An archive is a folder.
func Root(patterns []string) string {
	root := ""
	for i, pattern := range patterns {
		r := filepath.ToSlash(clean(pattern))
		info, err := os.Stat(pattern)
		switch end := strings.IndexAny(r, `*?[`); {
		case err == nil && info.IsDir(), intake.IsArchive(r) && end < 0:
			r = strings.TrimPrefix(r+"/", "./")
		case err != nil && end >= 0:
			r = r[:strings.LastIndexByte(r[:end], '/')+1]
		default:
			r = r[:strings.LastIndexByte(r, '/')+1]
		}
		for i > 0 && !strings.HasPrefix(r, root) {
			root = root[:strings.LastIndexByte(root[:len(root)-1], '/')+1]
		}
		if i == 0 {
			root = r
		}
	}
	return root
}

// clean returns a local pattern as the names of its files begin.
func clean(pattern string) string {
	if strings.Contains(pattern, "://") {
		return pattern
	}
	return filepath.Clean(pattern)
}

// matchFiles finds the files that a pattern stands for. None is an error.
type matchFiles struct {
	Part int
	Root string
}

func (f *matchFiles) ProcessElement(ctx context.Context, pattern string, emit func(string, Source)) error {
	pattern = clean(pattern)
	source := Source{f.Part, len(f.Root)}
	names, err := list(ctx, pattern)
	if err == nil && len(names) == 0 {
		err = errors.New("no file matches")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, err)
	}
	found := false
	for _, name := range names {
		// Of the folders, only those of this machine are found as such.
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			found = true
			emit(name, source)
			continue
		}
		// With the separator, a link to a folder is that folder. The function below returns no error, so nor does this.
		before := found
		found = false
		_ = filepath.WalkDir(name+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
			if isInput(file, entry, err) {
				found = true
				emit(file, source)
			}
			return nil
		})
		if !found && len(names) > 1 {
			emit(name, source) // reading it names it
		}
		found = found || before
	}
	if !found {
		return fmt.Errorf("%s: no log in it", pattern)
	}
	return nil
}

// list returns the files of a pattern. A local path that exists is itself, whatever is in its name.
func list(ctx context.Context, pattern string) ([]string, error) {
	if !strings.Contains(pattern, "://") {
		if _, err := os.Lstat(pattern); err == nil {
			return []string{pattern}, nil
		}
		if strings.Contains(pattern, "**") {
			return nil, errors.New("** is for gs:// and s3://; of a local folder, give its name to read it at any depth")
		}
	}
	system, err := filesystem.New(ctx, pattern)
	if err != nil {
		return nil, err
	}
	defer func() { _ = system.Close() }()
	return system.List(ctx, pattern)
}

// isInput reports whether what a walk finds is to be read. What cannot be read is, too, such as a folder that could not
// be listed, or a pipe: reading it names it as a failure, and the others go on.
func isInput(file string, entry fs.DirEntry, err error) bool {
	return err != nil || !entry.IsDir() && (files.MayBeLog(file) || intake.IsArchive(file))
}

// Find returns an error if a pattern stands for no log, as the pipeline would.
func Find(ctx context.Context, pattern string) error {
	return (&matchFiles{}).ProcessElement(ctx, pattern, func(string, Source) {})
}

// ofBranch leaves the files of one branch of several.
type ofBranch struct {
	Index, Of int
}

func (f *ofBranch) ProcessElement(name string, source Source, emit func(string, Source)) {
	if xxhash.Sum64String(name)%uint64(f.Of) == uint64(f.Index) {
		emit(name, source)
	}
}

// readLogs reads the logs in a file. From here on nothing is private: texts are scrubbed, and players are hashes.
type readLogs struct {
	Rules  []rules.File
	Player string
	Salt   []byte
	Split  string

	set    *rules.Set
	player *regexp.Regexp
}

func (f *readLogs) Setup() (err error) {
	if f.set, err = rules.Compile(slices.Concat(rules.Defaults(), f.Rules)...); err != nil {
		return err
	}
	f.player, err = playerExpression(f.Player)
	return err
}

func (f *readLogs) ProcessElement(ctx context.Context, name string, source Source,
	logs func(string, population.Log), failures func(population.Parts),
) {
	f.read(ctx, name, source, func(log *population.Log) { logs(log.Key, *log) }, func(failure *population.Failure) {
		failures(*failure.Parts())
	})
}

func (f *readLogs) read(ctx context.Context, name string, source Source,
	logs func(*population.Log), failures func(*population.Failure),
) {
	fail := func(name string, err error) {
		failures(&population.Failure{Path: text.Safe(name, 0), Error: text.Safe(err.Error(), maxError)})
	}
	// To open a pipe waits for whoever writes to it, and a device may have no end.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		fail(name, errors.New("is not a regular file"))
		return
	}
	if entries, err := os.ReadDir(name); err == nil {
		fail(name, fmt.Errorf("no log in it, of %d files and folders", len(entries)))
		return
	}
	system, err := filesystem.New(ctx, name)
	if err != nil {
		fail(name, err)
		return
	}
	defer func() { _ = system.Close() }()
	in, err := system.OpenRead(ctx, name)
	if err != nil {
		fail(name, err)
		return
	}
	defer func() { _ = in.Close() }() // only read from
	intake.Read(f.set, name, in, func(found intake.Found) {
		if found.Err != nil {
			fail(found.Path, found.Err)
		}
		if found.Session == nil {
			return
		}
		logsRead.Add(1)
		bytesRead.Add(found.Session.Log.Bytes)
		of := source.Part
		if f.Split != "" {
			of = population.PartOf(found.Session.Facts.Game, f.Split)
		}
		player := f.playerIn(found.Path, source.Root)
		if player == "" {
			fail(found.Path, errNoPlayer)
		}
		logs(population.NewLog(population.Pseudonym(f.Salt, found.Path), population.Pseudonym(f.Salt, player), of,
			found.Session))
	})
}

var errNoPlayer = errors.New("no player in its path by --player")

// playerIn returns the name of the player whose log stands at a path, "" where the expression finds none: all such logs
// are of one player, since one person may have sent them all. Without an expression it is the first folder after the
// root, and logs that are in none are of one player too.
func (f *readLogs) playerIn(name string, root int) string {
	name = filepath.ToSlash(name)
	if f.player == nil {
		if folder, _, ok := strings.Cut(strings.TrimPrefix(name[min(root, len(name)):], "/"), "/"); ok {
			return folder
		}
		return "."
	}
	if found := f.player.FindStringSubmatch(name); found != nil {
		return found[1]
	}
	return ""
}

type linkLog struct {
	K int
}

func (f *linkLog) ProcessElement(log population.Log) population.Links {
	links := population.Links{K: f.K}
	links.Observe(&log)
	return links
}

func firstCopy(_ string, copies func(*population.Log) bool) population.Log {
	var first, next population.Log
	copies(&first) // there is one
	for copies(&next) {
		first.Merge(&next)
		next = population.Log{}
	}
	return first
}

func playerOf(log population.Log) (uint64, population.Log) { return uint64(log.Player), log }

func extentOf(log population.Log) (uint64, population.Extent) { return uint64(log.Player), log.Extent }

func shorterOf(_ uint64, logs func(*population.Extent) bool) population.Links {
	var all []population.Extent
	for log := (population.Extent{}); logs(&log); log = (population.Extent{}) {
		all = append(all, log)
	}
	return population.Links{Shorter: population.Shorter(all)}
}

func resolve(links population.Links, names func(population.Names), lost func(population.Parts)) {
	all, beyond := links.Resolve()
	names(*all)
	lost(population.Parts{Lost: beyond})
}

func countPlayer(_ uint64, logs func(*population.Log) bool, names population.Names, totals func(population.Parts),
	groups func(string, population.Group),
) {
	player := &population.Player{}
	for log := (population.Log{}); logs(&log); log = (population.Log{}) {
		player.Merge(population.NewPlayer(&log, &names))
	}
	all, seen := player.Count()
	totals(population.Parts{Totals: *all})
	for _, g := range seen {
		groups(g.Key(), *g)
	}
}

func groupParts(g population.Group) population.Parts { return *g.Parts() }

func setOf(log population.Log, names population.Names, found func(string, population.Set)) {
	if !names.Shorter[log.Key] {
		s := population.NewSet(&log, &names)
		found(s.Key(), *s)
	}
}

func setParts(s population.Set) population.Parts { return *s.Parts() }

// Read returns how many logs were read in this process so far, and their bytes, unpacked.
func Read() (logs, bytes uint64) { return logsRead.Load(), bytesRead.Load() }

var logsRead, bytesRead atomic.Uint64

// Written returns the report that was written in this process, nil for none.
func Written() *population.Report { return written.Load() }

var written atomic.Pointer[population.Report]

// writeReport writes the report. Done again, it writes the same.
type writeReport struct {
	K          int
	JSON, HTML string
}

func (f *writeReport) ProcessElement(ctx context.Context, parts population.Parts) error {
	report := population.NewReport(&parts, f.K)
	written.Store(report)
	if f.JSON != "" {
		if err := write(ctx, f.JSON, report.JSON()); err != nil {
			return err
		}
	}
	if f.HTML == "" {
		return nil
	}
	return write(ctx, f.HTML, report.HTML())
}

func write(ctx context.Context, name string, data []byte) error {
	system, err := filesystem.New(ctx, name)
	if err != nil {
		return err
	}
	defer func() { _ = system.Close() }()
	out, err := system.OpenWrite(ctx, name)
	if err != nil {
		return err
	}
	if _, err := out.Write(data); err != nil {
		_ = out.Close() // the first error counts
		return err
	}
	return out.Close()
}
