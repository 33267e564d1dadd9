package pipeline

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync/atomic"

	"github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3" // beamx has the local one and gs
	"github.com/aws/aws-sdk-go-v2/config"
	awss3 "github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/bmatcuk/doublestar/v4"
	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/fleet/intake"
	"github.com/heedlog/heed/fleet/population"
)

// matchFiles finds the files of a pattern. No file is an error.
type matchFiles struct {
	Part int
	Root string
}

func (f *matchFiles) ProcessElement(ctx context.Context, pattern string, emit func(string, intake.Source)) error {
	list := func(pattern string) ([]string, error) {
		if strings.HasPrefix(pattern, "s3://") {
			return listS3(ctx, pattern)
		}
		system, err := filesystem.New(ctx, pattern)
		if err != nil {
			return nil, err
		}
		defer func() { _ = system.Close() }()
		return system.List(ctx, pattern)
	}
	return intake.Match(pattern, list, func(name string) { emit(name, intake.Source{Part: f.Part, Root: len(f.Root)}) })
}

// listS3 returns the objects of a pattern, in which ** is any number of folders, as in gs://. For Beam it is one.
func listS3(ctx context.Context, pattern string) (names []string, err error) {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(pattern, "s3://"), "/")
	settings, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return nil, err
	}
	before, _ := doublestar.SplitPattern(key)
	if before += "/"; before == "./" {
		before = ""
	}
	pages := awss3.NewListObjectsV2Paginator(awss3.NewFromConfig(settings),
		&awss3.ListObjectsV2Input{Bucket: &bucket, Prefix: &before})
	for pages.HasMorePages() {
		page, err := pages.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for i := range page.Contents {
			if name := *page.Contents[i].Key; doublestar.MatchUnvalidated(key, name) {
				names = append(names, "s3://"+bucket+"/"+name)
			}
		}
	}
	return names, nil
}

// ofBranch leaves the files of one branch of several.
type ofBranch struct {
	Index, Of int
}

func (f *ofBranch) ProcessElement(name string, source intake.Source, emit func(string, intake.Source)) {
	if xxhash.Sum64String(name)%uint64(f.Of) == uint64(f.Index) {
		emit(name, source)
	}
}

// readLogs reads the logs in a file. From here on nothing is private: texts are scrubbed, and players are hashes.
type readLogs struct{ intake.Reader }

func (f *readLogs) ProcessElement(ctx context.Context, name string, source intake.Source,
	logs func(string, population.Log), failures func(population.Parts),
) {
	open := func(name string) (io.ReadCloser, error) {
		system, err := filesystem.New(ctx, name)
		if err != nil {
			return nil, err
		}
		in, err := system.OpenRead(ctx, name)
		if err != nil {
			return nil, errors.Join(err, system.Close())
		}
		return in, nil
	}
	f.Read(name, source, open, func(log *population.Log) { logs(log.Key, *log) }, func(failure *population.Failure) {
		failures(*failure.Parts())
	})
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
