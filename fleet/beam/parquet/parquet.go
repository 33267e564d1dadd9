// Package parquet writes summaries of sessions as Parquet: a row for each session, with its mods and groups as lists,
// for tools that ask questions of many files. The columns are the fields of the JSON form of package summary, in small
// letters with underscores; times are in microseconds, UTC, and null where they are not known; hashes and signatures
// are texts of 16 digits.
package parquet

import (
	"errors"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/parquet-go/parquet-go"

	"github.com/heedlog/heed/internal/report/summary"
)

// Row is a session.
type Row struct {
	Version        int32      `parquet:"version"`
	Log            string     `parquet:"log"`
	LogBytes       int64      `parquet:"log_bytes"`
	LogHash        string     `parquet:"log_hash"`
	Began          *time.Time `parquet:"began,optional,timestamp(microsecond)"`
	Ended          *time.Time `parquet:"ended,optional,timestamp(microsecond)"`
	Game           string     `parquet:"game,dict"`
	Engine         string     `parquet:"engine,dict"`
	Loader         string     `parquet:"loader,dict"`
	Platform       string     `parquet:"platform,dict"`
	Runtime        string     `parquet:"runtime,dict"`
	Language       string     `parquet:"language,dict"`
	System         string     `parquet:"system,dict"`
	CPU            string     `parquet:"cpu,dict"`
	Memory         string     `parquet:"memory,dict"`
	Graphics       string     `parquet:"graphics,dict"`
	GraphicsAPI    string     `parquet:"graphics_api,dict"`
	GraphicsMemory string     `parquet:"graphics_memory,dict"`
	GraphicsDriver string     `parquet:"graphics_driver,dict"`
	State          string     `parquet:"state,dict"`
	Reason         string     `parquet:"reason,dict"`
	Headline       string     `parquet:"headline"`
	Lines          int64      `parquet:"lines"`
	Records        int64      `parquet:"records"`
	Complete       bool       `parquet:"complete"`
	Headless       bool       `parquet:"headless"`
	Blind          bool       `parquet:"blind"`
	Signatures     int32      `parquet:"signatures"`
	Masking        string     `parquet:"masking,dict"`
	Rules          string     `parquet:"rules,dict"`
	Mods           []Mod      `parquet:"mods,list"`
	MoreMods       int32      `parquet:"more_mods"`
	Groups         []Group    `parquet:"groups,list"`
	MoreGroups     int32      `parquet:"more_groups"`
	MoreEntries    int64      `parquet:"more_entries"`
}

// Mod is a mod of a session, in load order.
type Mod struct {
	Name       string `parquet:"name,dict"`
	PackageID  string `parquet:"package_id,dict"`
	WorkshopID string `parquet:"workshop_id,dict"`
	Versions   string `parquet:"versions,dict"`
}

// Group is a group of a session.
type Group struct {
	Signature   string   `parquet:"signature,dict"`
	Members     []string `parquet:"members,list"`
	Template    string   `parquet:"template,dict"`
	Canonical   string   `parquet:"canonical,dict"`
	Disposition string   `parquet:"disposition,dict"`
	Severity    string   `parquet:"severity,dict"`
	Rule        string   `parquet:"rule,dict"`
	Count       int64    `parquet:"count"`
	First       int64    `parquet:"first_line"`
	Last        int64    `parquet:"last_line"`
	Phase       string   `parquet:"phase,dict"`
	Blame       []Blame  `parquet:"blame,list"`
	Sample      string   `parquet:"sample"`
}

// Blame is a mod that a group points at.
type Blame struct {
	Mod       string   `parquet:"mod,dict"`
	PackageID string   `parquet:"package_id,dict"`
	Evidence  []string `parquet:"evidence,list"`
}

// Writer writes sessions. It is for one goroutine, and holds the rows of one row group in memory.
type Writer struct {
	w *parquet.GenericWriter[Row]
}

// NewWriter returns a writer to w, which must be closed.
func NewWriter(w io.Writer) *Writer {
	return &Writer{parquet.NewGenericWriter[Row](w, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(1000))}
}

// Write writes a session. One with a number that is beyond its column is an error.
func (w *Writer) Write(s *summary.Session) error {
	most := max(s.Log.Bytes, s.Records, s.MoreEntries)
	for i := range s.Groups {
		most = max(most, s.Groups[i].Count, s.Groups[i].First, s.Groups[i].Last)
	}
	if most > math.MaxInt64 || max(s.Signatures, s.MoreMods, s.MoreGroups) > math.MaxInt32 {
		return errors.New("parquet: a number of the session is beyond its column")
	}
	if _, err := w.w.Write([]Row{row(s)}); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

// Close writes the remaining rows, and the end of the file. It does not close the file.
func (w *Writer) Close() error {
	if err := w.w.Close(); err != nil {
		return fmt.Errorf("parquet: %w", err)
	}
	return nil
}

func row(s *summary.Session) Row {
	at := func(t time.Time) *time.Time {
		if t.IsZero() {
			return nil
		}
		t = t.UTC()
		return &t
	}
	f := &s.Facts
	r := Row{
		Version: int32(s.Version), Log: s.Log.Name, LogBytes: int64(s.Log.Bytes), LogHash: s.Log.Hash.String(),
		Began: at(s.Began), Ended: at(s.Ended),
		Game: f.Game, Engine: f.Engine, Loader: f.Loader, Platform: f.Platform, Runtime: f.Runtime,
		Language: f.Language, System: f.System, CPU: f.CPU, Memory: f.Memory, Graphics: f.Graphics,
		GraphicsAPI: f.GraphicsAPI, GraphicsMemory: f.GraphicsMemory, GraphicsDriver: f.GraphicsDriver,
		State: s.State, Reason: s.Reason, Headline: s.Headline, Lines: int64(s.Lines), Records: int64(s.Records),
		Complete: s.Complete, Headless: s.Headless, Blind: s.Blind, Signatures: int32(s.Signatures),
		Masking: summary.Hash(s.Masking).String(), Rules: summary.Hash(s.Rules).String(),
		MoreMods: int32(s.MoreMods), MoreGroups: int32(s.MoreGroups), MoreEntries: int64(s.MoreEntries),
	}
	for i := range s.Mods {
		m := &s.Mods[i]
		r.Mods = append(r.Mods, Mod{m.Name, m.PackageID, m.WorkshopID, m.Versions})
	}
	for i := range s.Groups {
		g := &s.Groups[i]
		out := Group{
			Signature: g.Signature.String(), Template: g.Template, Canonical: g.Canonical,
			Disposition: g.Disposition.String(), Severity: g.Severity.String(), Rule: g.Rule, Count: int64(g.Count),
			First: int64(g.First), Last: int64(g.Last), Phase: g.Phase, Sample: g.Sample,
		}
		for _, id := range g.Members {
			out.Members = append(out.Members, id.String())
		}
		for _, b := range g.Blame {
			blamed := Blame{Mod: b.Mod, PackageID: b.PackageID}
			for _, kind := range b.Evidence {
				blamed.Evidence = append(blamed.Evidence, kind.String())
			}
			out.Blame = append(out.Blame, blamed)
		}
		r.Groups = append(r.Groups, out)
	}
	return r
}
