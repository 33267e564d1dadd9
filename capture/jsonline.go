package capture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/logline"
)

// recordingVersion is the version of the format of recordings (docs/reference.md), which
// their first line names. Recordings of oldRecording have no deliveries.
const (
	recordingVersion = 3
	oldRecording     = 2
)

// jsonLine reads JSON lines. Its strings alias the line or buffers of its own,
// which are used again for the next line.
type jsonLine struct {
	valid   bool // the last line that was parsed is a JSON object
	empty   bool // it says that its message is empty
	nested  bool // it is a line of another log, as containers keep them
	partial bool // which continues in the next object
	gelf    bool // its levels are numbers of syslog

	time     time.Time
	level    event.Level
	hasLevel bool
	texts    [roleTexts][]byte // by role; of roleEvent as it is written
	failed   []byte            // object that describes the exception
	inner    [][]byte          // objects in it that hold members of the record
	rest     []byte            // " key=value" of members that have no place of their own
	line     []byte
	buf      []byte // unquoted strings
	decoder  *jsonDecoder
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
	j.gelf = bytes.Contains(line, []byte(`"short_message"`))
	j.valid = j.object(line, j.member)
	if len(j.failed) > 0 {
		j.object(j.failed, j.faultMember)
	}
	for i := 0; i < len(j.inner) && i < maxInner; i++ {
		j.object(j.inner[i], j.member)
	}
	if happened := j.texts[roleEvent]; len(happened) > 0 {
		if len(j.texts[roleMessage]) == 0 {
			j.texts[roleMessage] = j.unquote(happened)
		} else {
			j.extra([]byte("event"), happened)
		}
	}
	return j.valid
}

// maxChunk is the length at which Docker splits a line.
const maxChunk = 16 << 10

// maxInner bounds the objects in a line whose members are read.
const maxInner = 8

// object reads the members of an object, or of the objects in an array, and reports whether it is one.
func (j *jsonLine) object(text []byte, member func(key, raw []byte)) bool {
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
			member(j.unquote(key), value)
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

// member takes one member of the object, by the name that recordings have for it or else by a name that loggers write.
func (j *jsonLine) member(key, raw []byte) {
	switch opens := raw[0]; {
	case (opens == '{' || opens == '[') && holdsRecord(key):
		j.inner = append(j.inner, raw)
		return
	case opens == '{' && string(key) == "record" && len(j.texts[roleMessage]) > 0: // loguru's, whose text says the same
		_, level, _ := bytes.Cut(raw, []byte(`"level": {`))
		_, name, _ := bytes.Cut(level, []byte(`"name": "`))
		name, _, _ = bytes.Cut(name, []byte(`"`))
		j.level, j.hasLevel = logline.ParseLevel(text(name))
		return
	case opens == '{' && (roles[string(key)] == roleError || roles[string(key)] == roleStack) &&
		bytes.Contains(raw, []byte(`"stack`)):
		j.failed = raw
		return
	case opens == '{' && string(key) == "throwable":
		j.texts[roleStack] = []byte(thrown.Replace(string(raw[min(len(raw), len(`{"className":"`)):])))
		return
	case opens == '[' && string(key) == "attributes" && len(j.texts[roleStack]) == 0:
		j.texts[roleStack] = j.stackAttribute(raw)
	}
	if r, ok := encoded[string(key)]; ok {
		j.texts[r] = j.decode(raw)
		return
	}
	if r, ok := recorded[string(key)]; ok {
		if j.texts[r] = j.unquote(raw); r < roleFamily {
			return
		}
	} else if j.known(key, raw) || bytes.HasPrefix(key, []byte("__")) { // of the journal, and not of the record
		return
	}
	j.extra(key, raw)
}

// faultMember takes a member of the object that describes the exception.
func (j *jsonLine) faultMember(key, raw []byte) {
	if raw[0] == '"' && string(key) == "message" {
		j.texts[roleError] = j.unquote(raw)
	} else if raw[0] == '"' && bytes.HasPrefix(key, []byte("stack")) {
		j.known(key, raw)
	}
}

// thrown writes an exception that Logback gives in parts as Java prints it.
var thrown = strings.NewReplacer(`","message":"`, ": ", `"stepArray":[`, "", `{"className":"`, "\n\tat ",
	`","methodName":"`, ".", `","fileName":"`, "(", `","lineNumber":`, ":",
	`},"suppressed":[{"className":"`, "\nSuppressed: ", `,"suppressed":[{"className":"`, "\nSuppressed: ",
	`,"cause":{"className":"`, "\nCaused by: ", `,"commonFramesCount":`, "\n\t... ", `},`, ")", `}]`, ")", `",`, "", `}`, "")

// role is the meaning of a member.
type role uint8

// Roles of recordings, from roleFamily on with names that may be another logger's members; then of loggers, from
// roleTexts on with another value than a text.
const (
	roleKind role = iota
	roleOperation
	roleParent
	roleMethod
	roleStatus
	rolePhase
	roleDetail
	roleByCaller
	roleCount
	roleFamily
	roleConsumer
	roleAttention
	roleThrough
	roleVersion

	roleSource
	roleMessage
	roleEvent
	roleStack
	roleError

	roleTexts
	roleTime
	roleLevel
	roleLevelName // a level only as a text
	rolePriority
	roleSeverity
)

// recorded are the names of recordings, and encoded those whose texts are in base64.
var (
	recorded = rolesOf(strings.Fields("kind operation parent method status phase detail byCaller count family consumer " +
		"attention through schemaVersion")...)
	encoded = map[string]role{
		"messageBase64": roleMessage, "stackBase64": roleStack, "errorBase64": roleError, "detailBase64": roleDetail,
	}
)

// roles are the names in small letters of slog, zap, zerolog, logrus, pino, bunyan, Serilog, NLog, journald, GELF,
// logstash, ECS, OpenTelemetry, Logback, structlog, MongoDB and containers.
var roles = rolesOf([]string{
	roleSource:    "source logger name channel component syslog_identifier",
	roleMessage:   "message msg @m @mt @message short_message log text textpayload body stringvalue m",
	roleEvent:     "event",
	roleStack:     "stack stacktrace stack_trace @x exception error.stack_trace full_message",
	roleError:     "error err",
	roleTime:      "time ts timestamp @timestamp t @t timeunixnano __realtime_timestamp",
	roleLevel:     "level severity lvl",
	roleLevelName: "@l log.level loglevel log_level levelname level_name levelstr severitytext severity_text s l",
	rolePriority:  "priority syslog_level",
	roleSeverity:  "severitynumber severity_number",
}...)

// rolesOf returns the roles of names: the text at the place of a role has its names.
func rolesOf(names ...string) map[string]role {
	all := map[string]role{}
	for i := range names {
		for name := range strings.FieldsSeq(names[i]) {
			all[name] = role(i)
		}
	}
	return all
}

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
	r, ok := roles[string(name)]
	if r == roleLevel && j.gelf {
		r = rolePriority
	}
	switch r {
	case roleTime:
		if ok = j.time.IsZero(); ok {
			j.time = parseTime(raw)
		}
	case roleLevel, roleLevelName, rolePriority, roleSeverity:
		level, known := j.levelOf(r, raw, quoted)
		if ok = !j.hasLevel && (known || r == roleLevel); ok {
			j.level, j.hasLevel = level, known
		}
	case roleMessage:
		return j.takeMessage(text(name), raw)
	case roleSource, roleStack:
		ok = len(j.texts[r]) == 0 && quoted && (string(name) != "full_message" || bytes.Contains(raw, []byte(`\n`)))
		if ok {
			j.texts[r] = j.unquote(raw)
		}
	case roleEvent:
		if ok = quoted; ok {
			j.texts[r] = raw
		}
	case roleError:
		j.texts[r] = j.unquote(raw)
	}
	return ok
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
	message := &j.texts[roleMessage]
	if len(*message) > 0 || !ok && name != "message" && name != "msg" {
		return false
	}
	*message, j.nested = b, name == "log"
	if j.nested || name == "text" { // a line of a container or of loguru, with its end
		*message = bytes.TrimRight(b, "\n")
		j.partial = j.nested && len(b) >= maxChunk && len(b) == len(*message)
	}
	j.empty = len(*message) == 0
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
	text := bytes.NewReader(bytes.TrimLeft(rest, " \t:"))
	value, _ := jsontext.NewDecoder(text, jsontext.AllowInvalidUTF8(true)).ReadValue()
	if value.Kind() != '"' {
		return nil
	}
	return j.unquote(value)
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
	status, _ := event.Parse[event.Status](j.get(roleStatus))
	switch kind := j.get(roleKind); {
	case kind == "operation" && status.Kind() == event.KindOperation && len(j.texts[roleOperation]) > 0:
		rec.Entry = event.Operation{
			Time: j.time, ID: j.get(roleOperation), Parent: j.get(roleParent), Method: j.get(roleMethod), Status: status,
			Error: clip(j.get(roleError)), ByCaller: j.get(roleByCaller) == "true", Pos: pos,
		}.Entry()
	case kind == "state" && status.Kind() == event.KindState &&
		(status != event.StatusPhase || len(j.texts[rolePhase]) > 0):
		rec.Entry = event.State{
			Time: j.time, Status: status, Phase: j.get(rolePhase), Detail: clip(j.get(roleDetail)), Pos: pos,
		}.Entry()
	case kind == "notice" && status.Kind() == event.KindNotice:
		rec.Entry = event.Notice{
			Time: j.time, Status: status, Detail: clip(j.get(roleDetail)), Count: j.number(roleCount), Pos: pos,
		}.Entry()
	case kind == "ack" && len(j.texts[roleAttention]) > 0:
		rec.Entry = event.Entry{
			Kind: event.KindHost, Status: event.StatusAcknowledged,
			Source: j.get(roleConsumer), Message: j.get(roleAttention), Count: j.number(roleThrough),
		}
	case kind == "delivered" && len(j.texts[roleMessage]) == 0 && j.time.IsZero() && !j.hasLevel: // else another logger's
		rec.Entry = event.Entry{
			Kind: event.KindHost, Status: event.StatusDelivered,
			Source: j.get(roleConsumer), Message: j.get(roleAttention), Count: j.number(roleThrough),
		}
	case kind == "state_read" && len(j.texts[roleMessage]) == 0:
		rec.Entry = event.Entry{Kind: event.KindHost, Status: event.StatusStateRead}
	case kind == "advance" && !j.time.IsZero():
		rec.Entry = event.Entry{Kind: event.KindHost, Time: j.time}
	default:
		j.logRecord(rec, kind, clip)
	}
}

// get returns the text of a role, "" without one, and number its value.
func (j *jsonLine) get(r role) string { return text(j.texts[r]) }

func (j *jsonLine) number(r role) uint64 {
	n, _ := strconv.ParseUint(j.get(r), 10, 64)
	return n
}

// logRecord fills rec with a log record, a continuation of one, or context.
func (j *jsonLine) logRecord(rec *Record, kind string, clip func(string) string) {
	rec.Context = kind == contextSource
	message, rest := text(j.line), kind == event.RestSource
	ours := rec.Context || rest || kind == "log"
	switch {
	case len(j.texts[roleMessage]) > 0 && (kind == "" || ours):
		message = j.fullMessage()
	case j.empty && ours: // as a recording has it
		message = ""
	}
	rec.Entry = event.Entry{
		Time: j.time, Level: j.level, Source: j.get(roleSource), Stack: clip(j.get(roleStack)),
		OperationID: j.get(roleOperation), Message: clip(message), Pos: uint64(rec.StartLine),
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
	if status := j.texts[roleStatus]; len(status) > 0 {
		j.extra([]byte("status"), status)
	}
	if method := j.texts[roleMethod]; len(method) > 0 {
		j.extra([]byte("method"), method)
	}
	failure := j.texts[roleError]
	if len(failure) == 0 && len(j.rest) == 0 {
		return j.get(roleMessage)
	}
	n := len(j.buf)
	j.buf = append(j.buf, j.texts[roleMessage]...)
	if len(failure) > 0 {
		j.buf = append(append(j.buf, ": "...), failure...)
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
func (j *jsonLine) isRecording() bool {
	if j.get(roleKind) != "recording" {
		return false
	}
	version := j.number(roleVersion)
	return version == recordingVersion || version == oldRecording
}

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
