package sidecar

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"
	"unsafe"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/text"
	"github.com/heedlog/heed/journal"
)

// The bounds of the fields of a frame. The payload has a bound of its own.
const (
	maxName   = 4 << 10
	maxFiles  = 64
	maxMods   = 4096
	maxSeen   = 4096
	maxObject = 8 << 20 // of the JSON of a hello
	maxLevels = int(event.LevelFatal) + 1
)

// hello is the first frame of a client. The snapshot follows its JSON.
type hello struct {
	Client   string     `json:"client"`
	Process  uint64     `json:"process"`
	Rules    string     `json:"rules"`
	Family   string     `json:"family"`
	Files    []ruleFile `json:"files"`
	Phase    string     `json:"phase"`
	Lines    uint64     `json:"lines"` // ingested by sidecars before this one
	snapshot []byte

	// Seen holds the updates that the client received since the snapshot. They are read once their number is known.
	Seen []json.RawMessage `json:"seen"`
}

type ruleFile struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

func (h *hello) read(payload []byte) error {
	object, snapshot, found := bytes.Cut(payload, []byte("\n"))
	h.snapshot = snapshot
	switch {
	case !found:
		return errors.New("no line feed ends its JSON")
	case len(object) > maxObject:
		return fmt.Errorf("its JSON has %d bytes: at most %d are allowed", len(object), maxObject)
	}
	if err := json.Unmarshal(object, h); err != nil {
		return err
	}
	if len(h.Files) > maxFiles || len(h.Seen) > maxSeen {
		return fmt.Errorf("it has %d rule files and %d updates: at most %d and %d are allowed",
			len(h.Files), len(h.Seen), maxFiles, maxSeen)
	}
	h.Phase = short(h.Phase)
	return nil
}

// short bounds a name, in bytes.
func short(name string) string { return name[:text.Prefix(name, min(len(name), maxName))] }

// line is a log record. Its bytes are parts of the payload. Of all frames, it alone has no JSON: a game that logs much
// pays for each of them.
type line struct {
	number         uint64
	thread         uint64
	time           time.Time
	level          event.Level
	wide           bool // message and stack are UTF-16
	cutMessage     uint64
	cutStack       uint64
	operation      []byte
	message, stack []byte
}

func (l *line) read(payload []byte) error {
	f := fields{left: payload}
	l.number, l.time = f.number(), f.time()
	level, wide := f.number(), f.number()
	l.level, l.wide = event.Level(level), wide == 1
	l.thread, l.operation = f.number(), f.part()
	l.cutMessage, l.cutStack = f.number(), f.number()
	l.message, l.stack = f.part(), f.part()
	if f.torn || len(f.left) > 0 || level > uint64(event.LevelFatal) || wide > 1 || len(l.operation) > maxName {
		return errors.New("a field of the line is cut, out of bounds, or followed by more")
	}
	return nil
}

// fields reads the fields of a line. All fields after a torn one are zero.
type fields struct {
	left []byte
	torn bool
}

func (f *fields) number() uint64 {
	n, size := binary.Uvarint(f.left)
	if size <= 0 {
		f.left, f.torn = nil, true
		return 0
	}
	f.left = f.left[size:]
	return n
}

func (f *fields) time() time.Time {
	if len(f.left) < 8 {
		f.left, f.torn = nil, true
		return time.Time{}
	}
	seconds := int64(binary.LittleEndian.Uint64(f.left))
	f.left = f.left[8:]
	return time.Unix(seconds, int64(min(f.number(), 999_999_999))).UTC()
}

// part returns bytes that have their number in front: a part of the payload.
func (f *fields) part() []byte {
	n := f.number()
	if n > uint64(len(f.left)) {
		f.left, f.torn = nil, true
		return nil
	}
	part := f.left[:n:n]
	f.left = f.left[n:]
	return part
}

// state is a report of a client about its game.
type state struct {
	Time time.Time `json:"time"`
	What string    `json:"what"` // see [server.state]
	Text string    `json:"text"`
	Due  uint64    `json:"due"` // milliseconds until the next sign of life
}

// dropped counts the lines that a client could not pass on.
type dropped struct {
	Time    time.Time         `json:"time"`
	Why     string            `json:"why"`
	ByLevel [maxLevels]uint64 `json:"byLevel"`
	Others  uint64            `json:"others"` // of levels that are not known
	Bytes   uint64            `json:"bytes"`
}

// mods is a list of mods.
type mods struct {
	Mods []mod `json:"mods"`
}

type mod struct {
	heed.Mod
	Assemblies []string `json:"assemblies"`
}

// query is a question. Its kind decides which fields it has.
type query struct {
	Number   uint64            `json:"number"`
	Kind     string            `json:"kind"` // see answer
	Consumer string            `json:"consumer"`
	ID       string            `json:"id"` // of an item or an operation
	Through  uint64            `json:"through"`
	Epoch    string            `json:"epoch"`
	After    uint64            `json:"after"`
	Limit    int               `json:"limit"`
	Least    event.Disposition `json:"least"`
}

// welcome answers a hello.
type welcome struct {
	Program  string `json:"program"`
	Epoch    string `json:"epoch"`
	Restored bool   `json:"restored"`
	Reason   string `json:"reason"`
}

// update is a change of an item.
type update struct {
	heed.Update

	Current string `json:"current"` // id of the item that is current now, or ""
}

// The position of an entry holds its thread above the bits of its line.
const lineBits = 40

// position returns the position of a line of a thread.
func position(line, thread uint64) uint64 { return thread<<lineBits | line&(1<<lineBits-1) }

// page is a page of the journal.
type page struct {
	Epoch   string           `json:"epoch"`
	Next    uint64           `json:"next"`
	Lost    uint64           `json:"lost"`
	More    bool             `json:"more"`
	Records []journal.Record `json:"records"`
}

// answer is the answer to a query.
type answer struct {
	Number uint64 `json:"number"`
	Kind   string `json:"kind"`
	Error  string `json:"error"`
	Result any    `json:"result"`
}

// progress is how far the input was ingested.
type progress struct {
	Latest uint64 `json:"latest"` // number of a line
	Lines  uint64 `json:"lines"`  // ingested, by sidecars before this one as well
}

// problem reports a frame that could not be read.
type problem struct {
	Frame frameType `json:"frame"`
	At    uint64    `json:"at"`
	Fatal bool      `json:"fatal"`
	Text  string    `json:"text"`
}

// borrowed returns b as a string that is valid as long as b is unchanged. The engine copies the texts that it keeps of
// an entry; a copy of each text before that would be most of the garbage of a line.
func borrowed(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// text returns a text of the current line, with a note of how much of it was cut. It is valid until the next line.
// Which is the buffer that may be used.
func (s *server) text(which int, b []byte, cut uint64) string {
	if s.line.wide {
		s.texts[which] = appendUTF16(s.texts[which][:0], b)
		b = s.texts[which]
	}
	if cut == 0 && utf8.Valid(b) {
		return borrowed(b)
	}
	text := strings.ToValidUTF8(string(b), string(utf8.RuneError))
	if cut > 0 {
		s.cutTexts++
		s.cutBytes += cut
		text += fmt.Sprintf("\n(%d bytes more were cut)", cut)
	}
	return text
}

// appendUTF16 appends UTF-16 in little endian to dst as UTF-8. Lone surrogates, and half a unit at the end, are
// replaced.
func appendUTF16(dst, b []byte) []byte {
	for ; len(b) >= 2; b = b[2:] {
		r := rune(binary.LittleEndian.Uint16(b))
		if utf16.IsSurrogate(r) && len(b) >= 4 {
			if both := utf16.DecodeRune(r, rune(binary.LittleEndian.Uint16(b[2:]))); both != utf8.RuneError {
				r, b = both, b[2:]
			}
		}
		dst = utf8.AppendRune(dst, r) // a lone surrogate is replaced
	}
	if len(b) > 0 {
		dst = utf8.AppendRune(dst, utf8.RuneError)
	}
	return dst
}
