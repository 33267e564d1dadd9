package intake

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/fleet/population"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/rules"
)

// maxError bounds the words about a file that was not read, in characters.
const maxError = 400

// Reader reads the logs in files. Its texts are scrubbed, and its players are hashes: nothing private leaves it.
type Reader struct {
	Rules  []rules.File
	Player string
	Salt   []byte
	Split  string

	set    *rules.Set
	player *regexp.Regexp
}

// Setup compiles the rules and the expression. Call it first.
func (r *Reader) Setup() (err error) {
	if r.set == nil {
		if r.set, err = compile(r.Rules); err != nil {
			return err
		}
	}
	r.player, err = playerExpression(r.Player)
	return err
}

// Read calls logs with each log in a file, and failures with each reason why one was not read, or not to its end.
func (r *Reader) Read(name string, source Source, open func(name string) (io.ReadCloser, error),
	logs func(*population.Log), failures func(*population.Failure),
) {
	fail := func(name string, err error) {
		failures(&population.Failure{Path: text.Safe(name, 0), Error: text.Safe(err.Error(), maxError)})
	}
	// Opening a pipe waits for a writer, and a device may have no end.
	if info, err := os.Stat(name); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		fail(name, errors.New("is not a regular file"))
		return
	}
	if entries, err := os.ReadDir(name); err == nil {
		fail(name, fmt.Errorf("no log in it, of %s", text.Count(len(entries), "file or folder", "files and folders")))
		return
	}
	in, err := open(name)
	if err != nil {
		fail(name, err)
		return
	}
	defer func() { _ = in.Close() }() // only read from
	give := func(found Found, root int) {
		of := source.Part
		if r.Split != "" {
			of = population.PartOf(found.Session.Facts.Game, r.Split)
		}
		player := r.playerIn(found.Path, root)
		if player == "" {
			fail(found.Path, errNoPlayer)
		}
		logs(population.NewLog(population.Pseudonym(r.Salt, found.Path), population.Pseudonym(r.Salt, player), of,
			found.Session, r.set))
	}
	// An archive in a folder of players may have several: its folders are known at its end.
	below := filepath.ToSlash(name[min(source.Root, len(name)):])
	waits := r.player == nil && IsArchive(name) && !strings.Contains(below, "/")
	var held []Found
	Read(r.set, name, in, func(found Found) {
		if found.Err != nil {
			fail(found.Path, found.Err)
		}
		if found.Session == nil {
			return
		}
		logsRead.Add(1)
		bytesRead.Add(found.Session.Log.Bytes)
		if waits {
			held = append(held, found)
			return
		}
		give(found, source.Root)
	})
	root := foldersIn(held, source.Root)
	for _, found := range held {
		give(found, root)
	}
}

// foldersIn returns the length of the folder that has a folder for each player of an archive: the longest that has all
// of its logs, if each is in a folder there. Otherwise it returns root, by which the archive may be of one player.
func foldersIn(logs []Found, root int) int {
	if len(logs) == 0 {
		return root
	}
	all := path.Dir(logs[0].Path) + "/"
	for _, log := range logs {
		for !strings.HasPrefix(log.Path, all) {
			all = all[:strings.LastIndexByte(all[:len(all)-1], '/')+1]
		}
	}
	isLoose := func(log Found) bool { return !strings.Contains(log.Path[len(all):], "/") }
	if slices.ContainsFunc(logs, isLoose) {
		return root
	}
	return max(root, len(all))
}

var errNoPlayer = errors.New("no player in its path by --player")

func isNoPlayer(f population.Failure) bool { return f.Error == errNoPlayer.Error() }

// playerIn returns the name of the player of the log at a path, or "" if the expression does not match: all such logs
// belong to one player, since one person may have sent them all. Without an expression the player is the first folder
// after the root; all logs outside a folder belong to one player, too.
func (r *Reader) playerIn(name string, root int) string {
	name = filepath.ToSlash(name)
	if r.player == nil {
		if folder, _, ok := strings.Cut(strings.TrimPrefix(name[min(root, len(name)):], "/"), "/"); ok {
			return folder
		}
		return "."
	}
	if found := r.player.FindStringSubmatch(name); found != nil {
		return found[1]
	}
	return ""
}

// progressEvery is how often a line about the logs that are read so far is given out.
const progressEvery = 10 * time.Second

var logsRead, bytesRead atomic.Uint64 // in this process, unpacked

// Progress calls note from time to time with a line about the logs that are read so far, until stop is called.
func Progress(note func(line string)) (stop func()) {
	ticks := time.NewTicker(progressEvery)
	go func() {
		for range ticks.C {
			note(progress(logsRead.Load(), bytesRead.Load()))
		}
	}()
	return ticks.Stop
}

func progress(logs, bytes uint64) string {
	return fmt.Sprintf("%s with %d MB read so far", text.Count(logs, "log"), bytes/1_000_000)
}

// Report makes the report of the logs of this machine, with a goroutine for each processor. A pipeline makes the same
// report of the same files.
func (c *Config) Report(ctx context.Context) (*population.Report, error) {
	sources := map[string]Source{}
	for part, patterns := range c.Patterns {
		root := len(Root(patterns))
		for _, pattern := range patterns {
			err := Match(pattern, nil, func(name string) { sources[name] = sources[name].Join(Source{part, root}) })
			if err != nil {
				return nil, err
			}
		}
	}
	read := &Reader{Rules: c.Rules, Player: c.Player, Salt: c.Salt, Split: c.Split, set: c.set}
	if err := read.Setup(); err != nil {
		return nil, err
	}
	names := make(chan string)
	var workers sync.WaitGroup
	var mu sync.Mutex
	var logs []*population.Log
	var failures []population.Failure
	open := func(name string) (io.ReadCloser, error) { return os.Open(name) }
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for name := range names {
				read.Read(name, sources[name], open, func(log *population.Log) {
					mu.Lock()
					defer mu.Unlock()
					logs = append(logs, log)
				}, func(failure *population.Failure) {
					mu.Lock()
					defer mu.Unlock()
					failures = append(failures, *failure)
				})
			}
		})
	}
	for name := range sources {
		if ctx.Err() != nil {
			break
		}
		names <- name
	}
	close(names)
	workers.Wait()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return population.Sum(logs, failures, c.K), nil
}
