package capture

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"text/template"
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

	byLetter bool // the level has a name of one letter, which counts next to a message

	time     time.Time
	level    event.Level
	hasLevel bool
	texts    [roleTexts][]byte // by role; of roleEvent as it is written
	digits   []byte            // a level that is none but in GELF
	inner    []inner           // objects in it that hold members of the record
	rest     []byte            // " key=value" of members that have no place of their own
	line     []byte
	buf      []byte // unquoted strings
	decoder  *jsonDecoder
}

// inner is a member, or without a key an element of an array, that is read after the members around it.
type inner struct{ key, raw []byte }

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
	for i := 0; i < len(j.inner) && i < maxInner; i++ {
		if in := j.inner[i]; !j.innerMember(in.key, in.raw) {
			j.extra(in.key, in.raw)
		}
	}
	if j.gelf && !j.hasLevel {
		j.level, j.hasLevel = logline.Priority(text(j.digits))
	}
	if j.byLetter && len(j.texts[roleMessage]) == 0 {
		j.level, j.hasLevel = event.LevelUnknown, false
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
const maxInner = 16

// object reads the members of an object, or keeps the objects in an array, and reports whether it is whole.
func (j *jsonLine) object(text []byte) bool {
	d := j.decoder
	d.text = *bytes.NewBuffer(text)
	d.Reset(&d.text, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	_, err := d.ReadToken()
	for kind := d.PeekKind(); err == nil && kind != '}' && kind != ']'; kind = d.PeekKind() {
		var key, value jsontext.Value
		if text[0] == '{' {
			key, err = d.ReadValue()
		}
		if err == nil {
			value, err = d.ReadValue()
		}
		switch {
		case err != nil:
		case key != nil:
			j.member(j.unquote(key), value)
		case kind == '{':
			j.inner = append(j.inner, inner{nil, value})
		}
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	if err == nil {
		_, err = d.ReadToken()
	}
	return errors.Is(err, io.EOF)
}

// member takes one member of the object, by the name that recordings have for it or else by a name that loggers write.
func (j *jsonLine) member(key, raw []byte) {
	if (raw[0] == '{' || raw[0] == '[' && roles[string(key)] != roleStack) && slices.Contains(holdsMembers, string(key)) {
		j.inner = append(j.inner, inner{key, raw})
		return
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

// innerMember takes a member that is an object or an array, and reports whether it did.
func (j *jsonLine) innerMember(key, raw []byte) bool {
	var o described
	r, hasRole := roles[string(key)]
	switch {
	case string(key) == "record", r == roleLevel: // of loguru, whose text says the same
		into := any(&o)
		if r == roleLevel {
			into = &o.Level
		}
		_ = json.Unmarshal(raw, into)
		level, known := logline.ParseLevel(cmp.Or(o.Level.LevelStr, o.Level.Name))
		if known && !j.hasLevel {
			j.level, j.hasLevel = level, true
		}
		return known
	case string(key) == "attributes":
		_ = json.Unmarshal(raw, &o.Attributes)
		for _, a := range o.Attributes {
			if a.Key == "exception.stacktrace" {
				j.texts[roleStack] = []byte(a.Value.StringValue)
			}
		}
		return false
	case string(key) == "throwable", hasRole && r != roleMessage:
		_ = json.Unmarshal(raw, &o)
		stack := cmp.Or(o.Stack, o.StackTrace, o.StackTraceECS)
		if stack == "" && o.ClassName != "" {
			var b strings.Builder
			_ = javaTrace.Execute(&b, o)
			stack, o.Message = b.String(), ""
		}
		if stack == "" {
			return j.known(key, raw)
		}
		j.texts[roleError], j.texts[roleStack] = []byte(cmp.Or(o.Message, j.get(roleError))), []byte(stack)
		return true
	}
	j.object(raw)
	return true
}

// described is an object that describes a level, an exception, or attributes of OpenTelemetry.
type described struct {
	Level struct{ Name, LevelStr string }

	Message, Stack, StackTrace string
	StackTraceECS              string `json:"stack_trace"`

	ClassName string // the others are of Logback
	StepArray []struct {
		ClassName, MethodName, FileName string
		LineNumber                      int
	}
	CommonFramesCount int
	Suppressed        []described
	Cause             *described

	Attributes []struct {
		Key   string
		Value struct{ StringValue string }
	}
}

// javaTrace prints an exception that Logback gives in parts as Java does.
var javaTrace = template.Must(template.New("trace").Parse(`{{.ClassName}}{{with .Message}}: {{.}}{{end}}
{{- range .StepArray}}
	at {{.ClassName}}.{{.MethodName}}({{.FileName}}:{{.LineNumber}}){{end}}
{{- with .CommonFramesCount}}
	... {{.}} more{{end}}
{{- range .Suppressed}}
	Suppressed: {{template "trace" .}}{{end}}
{{- with .Cause}}
Caused by: {{template "trace" .}}{{end}}`))

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
	roleLetter    // the same, by a name of one letter: next to a message
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
	roleMessage:   "message msg @m @mt @message short_message log text textpayload body stringvalue m M",
	roleEvent:     "event",
	roleStack:     "stack stacktrace stack_trace @x exception error.stack_trace full_message",
	roleError:     "error err",
	roleTime:      "time ts timestamp @timestamp t @t T timeunixnano __realtime_timestamp",
	roleLevel:     "level severity lvl",
	roleLevelName: "@l log.level loglevel log_level levelname level_name levelstr severitytext severity_text",
	roleLetter:    "s L", // of MongoDB and zap
	rolePriority:  "priority syslog_level",
	roleSeverity:  "severitynumber severity_number",
}...)

// holdsMembers has the names of objects and arrays whose members are read.
var holdsMembers = strings.Fields("log level body Body jsonPayload resourceLogs scopeLogs logRecords attributes record " +
	"throwable error err exception stack stacktrace stack_trace")

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
	name := strings.ToLower(text(key))
	if len(key) == 1 {
		name = text(key) // of one letter only as loggers write it
	}
	quoted := raw[0] == '"'
	r, ok := roles[name]
	switch r {
	case roleTime:
		if ok = j.time.IsZero(); ok {
			j.time = parseTime(raw)
		}
	case roleLevel, roleLevelName, roleLetter, rolePriority, roleSeverity:
		level, known := j.levelOf(r, raw, quoted)
		if ok = (!j.hasLevel || j.byLetter && known) && (known || r == roleLevel); ok {
			j.level, j.hasLevel, j.digits, j.byLetter = level, known, raw, r == roleLetter
		}
	case roleMessage:
		j.gelf = j.gelf || name == "short_message"
		return j.takeMessage(name, raw)
	case roleSource, roleStack:
		value := j.unquote(raw)
		ok = len(j.texts[r]) == 0 && quoted && (name != "full_message" || bytes.IndexByte(value, '\n') >= 0)
		if ok {
			j.texts[r] = value
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
		raw = strconv.AppendUint(nil, 10+(n-1)/4*10, 10) // as pino numbers them
	case roleLevelName, roleLetter:
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

// text returns a text that is a string, or an array of its bytes as journald exports other text than UTF-8.
func (j *jsonLine) text(raw []byte) ([]byte, bool) {
	if raw[0] != '[' {
		return j.unquote(raw), raw[0] == '"'
	}
	var b []byte
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, false
	}
	return b, true
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
	case kind == "ack" && len(j.texts[roleAttention]) > 0, kind == "state_read" && len(j.texts[roleMessage]) == 0,
		kind == "delivered" && len(j.texts[roleMessage]) == 0 && j.time.IsZero() && !j.hasLevel: // else another logger's
		rec.Entry = event.Entry{
			Kind: event.KindHost, Status: hostStatus[kind],
			Source: j.get(roleConsumer), Message: j.get(roleAttention), Count: j.number(roleThrough),
		}
	case kind == "advance" && !j.time.IsZero():
		rec.Entry = event.Entry{Kind: event.KindHost, Time: j.time}
	default:
		j.logRecord(rec, kind, clip)
	}
}

// hostStatus has the calls of an engine's method by the kinds of a recording.
var hostStatus = map[string]event.Status{
	"ack": event.StatusAcknowledged, "delivered": event.StatusDelivered, "state_read": event.StatusStateRead,
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
	isVersion := func(version uint64) bool { return j.number(roleVersion) == version }
	return j.get(roleKind) == "recording" && (isVersion(recordingVersion) || isVersion(oldRecording))
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
	for n := 0; n < 3 && f >= latestSeconds; n++ {
		f /= 1e3
	}
	if err != nil || f <= 0 || f >= latestSeconds {
		return time.Time{}
	}
	sec, frac := math.Modf(f)
	return time.Unix(int64(sec), int64(math.Round(frac*1e6))*1e3).UTC()
}
