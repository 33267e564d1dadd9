package capture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
)

// recordingVersion is the version of the format of recordings (docs/reference.md), which
// their first line names.
const recordingVersion = 3

// jsonLine reads JSON lines. Its strings alias the line or buffers of its own,
// which are used again for the next line.
type jsonLine struct {
	valid bool // the last line that was parsed is a JSON object
	// version reports that it names recordingVersion.
	version bool
	empty   bool // it says that its message is empty
	nested  bool // it is a line of another log, as containers keep them
	partial bool // which continues in the next object
	fault   bool // the members of failed are being read

	kind                                       []byte
	time                                       time.Time
	level                                      event.Level
	hasLevel                                   bool
	source, message, stack                     []byte
	operation, parent, method, status, failure []byte
	phase, detail, family                      []byte
	consumer, attention                        []byte
	through                                    uint64
	byCaller                                   bool
	count                                      uint64
	happened                                   []byte   // value of "event", which is the message where there is no other
	failed                                     []byte   // object that describes the exception
	inner                                      [][]byte // objects in it that hold members of the record
	rest                                       []byte   // " key=value" of members that have no place of their own
	line                                       []byte
	buf                                        []byte // unquoted strings
	decoder                                    *jsonDecoder
}

// jsonDecoder reads text in place.
type jsonDecoder struct {
	jsontext.Decoder
	text bytes.Buffer
}

// parse reads line, and reports whether it is a JSON object. If not, the line
// is a plain log record.
func (j *jsonLine) parse(line []byte) bool {
	*j = jsonLine{rest: j.rest[:0], buf: j.buf[:0], inner: j.inner[:0], line: line, decoder: j.decoder}
	if j.decoder == nil {
		j.decoder = new(jsonDecoder)
	}
	j.valid = j.object(line)
	if j.fault = len(j.failed) > 0; j.fault {
		j.object(j.failed)
		j.fault = false
	}
	for i := 0; i < len(j.inner) && i < maxInner; i++ {
		j.object(j.inner[i])
	}
	if len(j.happened) > 0 {
		if len(j.message) == 0 {
			j.message = j.unquote(j.happened)
		} else {
			j.extra([]byte("event"), j.happened)
		}
	}
	return j.valid
}

// maxChunk is the length at which Docker splits a line.
const maxChunk = 16 << 10

// maxInner bounds the objects in a line whose members are read.
const maxInner = 8

// object reads the members of an object, or of the objects in an array, and reports whether it is one.
func (j *jsonLine) object(text []byte) bool {
	d := j.decoder
	d.text = *bytes.NewBuffer(text)
	d.Reset(&d.text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadToken() // {
	if text[0] == '[' {
		for err == nil && d.PeekKind() == '{' {
			var element jsontext.Value
			if element, err = d.ReadValue(); err == nil {
				j.inner = append(j.inner, element)
			}
		}
		return false
	}
	for err == nil && d.PeekKind() != '}' {
		var key, value jsontext.Value
		if key, err = d.ReadValue(); err != nil {
			break
		}
		if value, err = d.ReadValue(); err == nil {
			j.member(j.unquote(key), value)
		}
	}
	if err == nil {
		_, err = d.ReadToken() // }
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return errors.Is(err, io.EOF)
}

// members are the texts that recordings have. Those from sharedMembers on may be another logger's too; those from
// encodedMembers on are in base64.
var members = [...]string{
	"kind", "operation", "parent", "method", "status", "phase", "detail", "family", "consumer", "attention",
	"messageBase64", "stackBase64", "errorBase64", "detailBase64",
}

const (
	sharedMembers  = 7
	encodedMembers = 10
)

// member takes one member of the object, by the name that recordings have for it or else by a name that loggers write.
func (j *jsonLine) member(key, raw []byte) {
	switch {
	case j.fault:
		j.faultMember(key, raw)
		return
	case (raw[0] == '{' || raw[0] == '[') && holdsRecord(key):
		j.inner = append(j.inner, raw)
		return
	case raw[0] == '{' && roles[string(key)] == roleError && bytes.Contains(raw, []byte(`"stack`)):
		j.failed = raw
		return
	}
	if raw[0] == '[' && string(key) == "attributes" && len(j.stack) == 0 {
		j.stack = j.stackAttribute(raw)
	}
	to := [...]*[]byte{
		&j.kind, &j.operation, &j.parent, &j.method, &j.status, &j.phase, &j.detail, &j.family, &j.consumer, &j.attention,
		&j.message, &j.stack, &j.failure, &j.detail,
	}
	if i := slices.Index(members[:], text(key)); i >= encodedMembers {
		*to[i] = j.decode(raw)
		return
	} else if i >= 0 {
		if *to[i] = j.unquote(raw); i >= sharedMembers {
			j.extra(key, raw)
		}
		return
	}
	switch string(key) {
	case "byCaller":
		j.byCaller = string(raw) == "true"
	case "through":
		j.through, _ = strconv.ParseUint(text(raw), 10, 64)
		j.extra(key, raw)
	case "schemaVersion":
		if j.version = string(raw) == strconv.Itoa(recordingVersion); !j.version {
			j.extra(key, raw)
		}
	case "count":
		j.count, _ = strconv.ParseUint(text(raw), 10, 64)
	default:
		if !j.known(key, raw) && !bytes.HasPrefix(key, []byte("__")) { // of the journal, and not of the record
			j.extra(key, raw)
		}
	}
}

// faultMember takes a member of the object that describes the exception.
func (j *jsonLine) faultMember(key, raw []byte) {
	if raw[0] == '"' && string(key) == "message" {
		j.failure = j.unquote(raw)
	} else if raw[0] == '"' && bytes.HasPrefix(key, []byte("stack")) {
		j.known(key, raw)
	}
}

// role is the meaning of a member that loggers write.
type role uint8

const (
	roleTime role = iota + 1
	roleLevel
	roleLevelName // a level only as a text
	rolePriority
	roleSeverity
	roleSource
	roleMessage
	roleEvent
	roleStack
	roleError
)

// roles are the names in small letters of slog, zap, zerolog, logrus, pino, bunyan, Serilog, NLog, journald, GELF,
// logstash, ECS, OpenTelemetry, Logback, structlog, MongoDB and containers.
var roles = func() map[string]role {
	all := map[string]role{}
	for i, names := range [...]string{
		roleTime:      "time ts timestamp @timestamp t @t timeunixnano __realtime_timestamp",
		roleLevel:     "level severity lvl",
		roleLevelName: "@l log.level loglevel log_level levelname level_name levelstr severitytext severity_text s",
		rolePriority:  "priority syslog_level",
		roleSeverity:  "severitynumber severity_number",
		roleSource:    "source logger name channel component syslog_identifier",
		roleMessage:   "message msg @m @mt @message short_message log textpayload body stringvalue",
		roleEvent:     "event",
		roleStack:     "stack stacktrace stack_trace @x exception error.stack_trace",
		roleError:     "error err",
	} {
		for name := range strings.FieldsSeq(names) {
			all[name] = role(i)
		}
	}
	return all
}()

// known takes a member by a name that loggers write, in any case, and reports whether it did.
func (j *jsonLine) known(key, raw []byte) bool {
	var lower [len("__realtime_timestamp")]byte
	if len(key) > len(lower) {
		return false
	}
	for i, c := range key {
		if c-'A' < 26 {
			c |= 0x20
		}
		lower[i] = c
	}
	name := lower[:len(key)]
	quoted := raw[0] == '"'
	switch r := roles[string(name)]; r {
	case roleTime:
		if j.time.IsZero() {
			j.time = parseTime(raw)
			return true
		}
	case roleLevel, roleLevelName, rolePriority, roleSeverity:
		level, ok := j.levelOf(r, raw, quoted)
		if !j.hasLevel && (ok || r == roleLevel) {
			j.level, j.hasLevel = level, ok
			return true
		}
	case roleSource:
		if len(j.source) == 0 && quoted {
			j.source = j.unquote(raw)
			return true
		}
	case roleMessage:
		return j.takeMessage(text(name), raw)
	case roleEvent:
		if quoted {
			j.happened = raw
		}
		return quoted
	case roleStack:
		if len(j.stack) == 0 && quoted {
			j.stack = j.unquote(raw)
			return true
		}
	case roleError:
		j.failure = j.unquote(raw)
		return true
	}
	return false
}

// levelOf reads the value of a member that has a level.
func (j *jsonLine) levelOf(r role, raw []byte, quoted bool) (event.Level, bool) {
	switch r {
	case rolePriority:
		return logline.Priority(text(j.unquote(raw)))
	case roleSeverity:
		n, err := strconv.ParseUint(text(raw), 10, 8)
		if err != nil || n == 0 || n > 24 {
			return event.LevelUnknown, false
		}
		return [...]event.Level{
			event.LevelDebug, event.LevelDebug, event.LevelInfo, event.LevelWarning, event.LevelError, event.LevelFatal,
		}[(n-1)/4], true
	case roleLevelName:
		if !quoted {
			return event.LevelUnknown, false
		}
	}
	return logline.ParseLevel(text(j.unquote(raw)))
}

// takeMessage takes the text of the record, and reports whether it did.
func (j *jsonLine) takeMessage(name string, raw []byte) bool {
	b, ok := j.text(raw)
	if len(j.message) > 0 || !ok && name != "message" && name != "msg" {
		return false
	}
	j.message, j.nested = b, name == "log"
	if j.nested { // a line of a container, with its end
		j.message = bytes.TrimRight(b, "\n")
		j.partial = len(b) >= maxChunk && len(b) == len(j.message)
	}
	j.empty = len(j.message) == 0
	return true
}

// holdsRecord reports whether an object or an array by this name holds members of the record.
func holdsRecord(key []byte) bool {
	switch string(key) {
	case "log", "level", "body", "Body", "jsonPayload", "resourceLogs", "scopeLogs", "logRecords":
		return true
	}
	return false
}

// text returns a text that is a string, or an array of its bytes as journald exports other text than UTF-8.
func (j *jsonLine) text(raw []byte) ([]byte, bool) {
	if raw[0] != '[' {
		return j.unquote(raw), raw[0] == '"'
	}
	from := len(j.buf)
	for field := range bytes.SplitSeq(bytes.Trim(raw, "[]"), []byte(",")) {
		n, err := strconv.ParseUint(text(bytes.TrimSpace(field)), 10, 8)
		if err != nil {
			return nil, false
		}
		j.buf = append(j.buf, byte(n))
	}
	return j.buf[from:len(j.buf):len(j.buf)], true
}

// stackAttribute returns the trace among the attributes of OpenTelemetry, nil without one.
func (j *jsonLine) stackAttribute(attributes []byte) []byte {
	_, rest, _ := bytes.Cut(attributes, []byte(`"exception.stacktrace"`))
	_, rest, _ = bytes.Cut(rest, []byte(`"stringValue"`))
	from := bytes.IndexByte(rest, '"')
	if from < 0 {
		return nil
	}
	to := from + 1
	for to < len(rest) && rest[to] != '"' {
		if rest[to] == '\\' {
			to++
		}
		to++
	}
	return j.unquote(rest[from:min(to+1, len(rest))])
}

// extra keeps a member that has no place of its own as " key=value".
func (j *jsonLine) extra(key, raw []byte) {
	if len(key) == 0 || string(raw) == "null" {
		return
	}
	j.rest = append(j.rest, ' ')
	j.rest = append(j.rest, key...)
	j.rest = append(j.rest, '=')
	j.rest = append(j.rest, raw...)
}

// record fills rec with the parsed line. A line whose kind is operation,
// state or notice and that lacks a member of the kind becomes a log record with the
// whole line.
//
// Texts longer than limit are cut.
func (j *jsonLine) record(rec *Record, limit int) {
	clip := func(s string) string {
		if len(s) > limit {
			rec.Cut += uint64(len(s) - limit)
			s = s[:limit]
		}
		return s
	}
	pos := uint64(rec.StartLine)
	status, _ := event.Parse[event.Status](text(j.status))
	switch kind := text(j.kind); {
	case kind == "operation" && status.Kind() == event.KindOperation && len(j.operation) > 0:
		rec.Entry = event.Operation{
			Time: j.time, ID: text(j.operation), Parent: text(j.parent), Method: text(j.method),
			Status: status, Error: clip(text(j.failure)), ByCaller: j.byCaller, Pos: pos,
		}.Entry()
	case kind == "state" && status.Kind() == event.KindState && (status != event.StatusPhase || len(j.phase) > 0):
		rec.Entry = event.State{
			Time: j.time, Status: status, Phase: text(j.phase), Detail: clip(text(j.detail)), Pos: pos,
		}.Entry()
	case kind == "notice" && status.Kind() == event.KindNotice:
		rec.Entry = event.Notice{Time: j.time, Status: status, Detail: clip(text(j.detail)), Count: j.count, Pos: pos}.Entry()
	case kind == "ack" && len(j.attention) > 0:
		rec.Entry = event.Entry{
			Kind: event.KindHost, Status: event.StatusAcknowledged,
			Source: text(j.consumer), Message: text(j.attention), Count: j.through,
		}
	case kind == "delivered" && len(j.message) == 0:
		rec.Entry = event.Entry{
			Kind: event.KindHost, Status: event.StatusDelivered,
			Source: text(j.consumer), Message: text(j.attention), Count: j.through,
		}
	case kind == "state_read" && len(j.message) == 0:
		rec.Entry = event.Entry{Kind: event.KindHost, Status: event.StatusStateRead}
	case kind == "advance" && !j.time.IsZero():
		rec.Entry = event.Entry{Kind: event.KindHost, Time: j.time}
	default:
		j.logRecord(rec, kind, clip)
	}
}

// logRecord fills rec with a log record, a continuation of one, or context.
func (j *jsonLine) logRecord(rec *Record, kind string, clip func(string) string) {
	rec.Context = kind == contextSource
	message, rest := text(j.line), kind == event.RestSource
	ours := rec.Context || rest || kind == "log"
	switch {
	case len(j.message) > 0 && (kind == "" || ours):
		message = j.fullMessage()
	case j.empty && ours: // as a recording has it
		message = ""
	}
	rec.Entry = event.Entry{
		Time: j.time, Level: j.level, Source: text(j.source), Stack: clip(text(j.stack)),
		OperationID: text(j.operation), Message: clip(message), Pos: uint64(rec.StartLine),
	}
	if rest {
		rec.Part = event.Rest
	}
	if j.hasLevel {
		rec.LevelBy = evidenceField
	}
}

// fullMessage is the message, the error of the record, and
// the other members.
func (j *jsonLine) fullMessage() string {
	if len(j.status) > 0 {
		j.extra([]byte("status"), j.status)
	}
	if len(j.method) > 0 {
		j.extra([]byte("method"), j.method)
	}
	if len(j.failure) == 0 && len(j.rest) == 0 {
		return text(j.message)
	}
	n := len(j.buf)
	j.buf = append(j.buf, j.message...)
	if len(j.failure) > 0 {
		j.buf = append(append(j.buf, ": "...), j.failure...)
	}
	j.buf = append(j.buf, j.rest...)
	return text(j.buf[n:])
}

// unquote returns the text of a string, without copying it where it has no
// escapes, and any other value as it is written; null is the empty text.
func (j *jsonLine) unquote(raw []byte) []byte {
	if raw[0] != '"' {
		if string(raw) == "null" {
			return nil
		}
		return raw
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1]
	}
	n := len(j.buf)
	j.buf, _ = jsontext.AppendUnquote(j.buf, raw) // other bytes than UTF-8 become U+FFFD
	return j.buf[n:len(j.buf):len(j.buf)]
}

// decode returns the bytes that a string holds in base64, and the string
// itself if it holds none.
func (j *jsonLine) decode(raw []byte) []byte {
	b := j.unquote(raw)
	n := len(j.buf)
	buf, err := base64.StdEncoding.AppendDecode(j.buf, b)
	if err != nil {
		return b
	}
	j.buf = buf
	return buf[n:len(buf):len(buf)]
}

// isRecording reports whether the parsed line is the first line of a recording.
// It reports no event.
func (j *jsonLine) isRecording() bool { return string(j.kind) == "recording" && j.version }

// parseTime reads RFC 3339, or a number of seconds, or of a thousandth, a millionth or a billionth of one, since 1970;
// anything else is no time.
func parseTime(raw []byte) time.Time {
	b := bytes.Trim(raw, `"`)
	if raw[0] == '"' {
		if t, err := time.Parse(time.RFC3339Nano, text(b)); err == nil {
			return t
		}
	}
	f, err := strconv.ParseFloat(text(b), 64)
	const latestSeconds = 1e11 // the year 5138
	for range 3 {
		if f >= latestSeconds {
			f /= 1e3
		}
	}
	if err != nil || f <= 0 || f >= latestSeconds {
		return time.Time{}
	}
	sec, frac := math.Modf(f)
	return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1e3).UTC()
}
