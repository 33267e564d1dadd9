package capture

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"time"
	"unsafe"

	"github.com/heedlog/heed/capture/internal/crash"
	"github.com/heedlog/heed/capture/internal/rimworld"
	"github.com/heedlog/heed/event"
)

// flush completes the open record, if there is one, and puts it into out.
func (r *Reader) flush() {
	a := &r.asm
	if a.empty() {
		// Only blank lines: the previous message stays.
		a.message, a.previous = a.previous, a.message
		return
	}
	a.closeRef()
	if a.export && r.live.handed.lines == 0 {
		r.readExport()
	}
	switch {
	case a.maybeContext():
		a.block, a.split = blockNone, evidenceLine
	case a.block == blockContext:
		r.noteHeader()
	}
	if r.live.handed.lines > 0 {
		r.goOn()
		return
	}
	if a.split == evidenceJSON && r.json.isRecording() {
		if name := r.json.texts[roleFamily]; name != nil {
			r.format = formatOf(string(name[:min(len(name), maxFamily)]))
		}
		r.old = r.json.number(roleVersion) == oldRecording
		a.lines, a.sealed = 0, true
		return
	}
	if a.split == evidenceJSON && r.old && r.json.get(roleKind) == "ack" { // it covers the items that there were to see
		rec := r.deliver()
		rec.Family, rec.Entry = r.format.Name, event.Entry{
			Kind: event.KindHost, Status: event.StatusDelivered, Source: r.json.get(roleConsumer),
		}
	}
	r.banner.records++
	if a.split == evidenceJSON {
		r.endRun(0)
	} else {
		r.countRun()
	}
	rec := r.deliver()
	r.fill(rec)
	r.looks.keep(&a.own)
	a.lines = 0
	a.sealed = true
	if rec.Kind == event.KindLog && rec.Stack == "" {
		if n := omission(rec.Message); n > 0 {
			r.notice(event.StatusRunCut, n, int(rec.Pos), "the logger reports messages that it left out")
		}
	}
}

// fill describes the record in asm.
func (r *Reader) fill(rec *Record) {
	a := &r.asm
	rec.StartLine, rec.EndLine, rec.Split, rec.Layout = a.start, a.end, a.split, r.layout
	rec.Family = r.format.Name
	rec.Cut, rec.Ref, rec.RefState = a.cut, a.ref, a.refState
	switch a.split {
	case evidenceLine, evidenceIndent, evidenceList, evidenceForm:
		if a.blanks > 0 {
			rec.Split = evidenceBlank
		}
	}
	if a.split == evidenceJSON {
		r.json.record(rec, r.asm.limit)
		if rec.Kind == event.KindLog && rec.Part != event.Rest {
			r.mods.message(rec.Message, rec.Context, r.banner.records)
		}
		if rec.Context {
			for line := range strings.SplitSeq(rec.Message, "\n") {
				r.machine = rimworld.Machine(r.machine, line)
			}
		}
	} else {
		rec.Message, rec.Stack, rec.Pos = text(a.message), text(a.stack), uint64(a.start)
		if a.time != 0 {
			rec.Time = time.Unix(0, a.time).UTC()
		}
		switch a.block {
		case blockContext:
			rec.Context, rec.Source, rec.Layout = true, contextSource, layoutHugsLib
		case blockAround:
			rec.Context, rec.Source = true, reportSource
		case blockReport, blockCrash:
			if a.block == blockReport || a.reason != crash.Unknown {
				rec.Source = a.reason.Source()
			}
			rec.Level, rec.LevelBy = a.level(r)
		default:
			rec.Level, rec.LevelBy = a.level(r)
			head := a.logger()
			rec.Source = rec.Message[head.Logger:head.LoggerEnd]
			rec.Head = head.TextAt(rec.Message, rec.Level) + 1
			rec.unquote()
		}
	}
	if rec.Context && r.machine != nil {
		rec.machine, r.machine = r.machine, &Facts{}
	}
	rec.Mods, r.mods.list = r.mods.list, nil
	if r.live.level = rec.Level; a.start == r.live.cutLine {
		r.live.cutLine = 0
		if rec.Part == event.Whole {
			rec.Part = event.Again
		}
	}
}

// maxRun is how often in a row Unity 2022.3 writes one message; further
// ones are dropped until another message comes.
const maxRun = 99

// countRun takes note of the record in asm before it is delivered.
func (r *Reader) countRun() {
	a := &r.asm
	if r.layout == layoutUnity2022_3 && r.run > 0 && a.start > 0 && bytes.Equal(a.message, a.previous) {
		r.run++
		r.runLine = a.end
		return
	}
	r.endRun(1)
	r.runLine = a.end
}

// endRun ends the run of equal messages before the record in asm, whose own run
// has next records so far.
func (r *Reader) endRun(next uint64) {
	if r.run == maxRun {
		const why = "the game stops writing a message after 99 repeats: there may have been more"
		r.notice(event.StatusRunCut, maxRun, r.runLine, why)
	}
	r.run = next
}

// notice puts a notice, which arose near a line, into out.
func (r *Reader) notice(status event.Status, count uint64, line int, detail string) *Record {
	rec := r.deliver()
	r.ended = r.ended && status != event.StatusRestarted
	rec.Entry = event.Notice{Status: status, Count: count, Pos: uint64(line), Detail: detail}.Entry()
	rec.Layout, rec.Family = r.layout, r.format.Name
	return rec
}

// finish ends the reading for the reason that the source gave.
func (r *Reader) finish() {
	r.endRun(0)
	detail, isWhole := r.truncated(), r.cur.ended || r.layout == LayoutJSON && hasPrefix(r.cur.text, "{")
	if r.unended = detail == "" && !isWhole && r.cur.no > 1; detail != "" {
		r.notice(event.StatusTruncated, 0, r.lines.no, detail)
	}
	if r.err = io.EOF; r.failed != nil && !errors.Is(r.failed, io.EOF) {
		r.err = readError(r.lines.no, r.op, r.failed)
	}
}

// text returns b as a string without copying it.
//
// The buffers of records are used again by the next call of Next, until which
// strings of a record are documented to live; copying each would be
// the one allocation per record that the reader otherwise avoids.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// raw returns s as bytes without copying it. They are only read.
func raw(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
