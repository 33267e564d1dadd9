package report

import (
	"cmp"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/blame"
)

// The OTLP forms are JSON lines, each an ExportLogsServiceRequest in the JSON
// encoding of OTLP 1.x with one log record: what the file receiver of the
// OpenTelemetry Collector reads, and what may be posted to /v1/logs as it is.
// 64-bit integers are strings there, and enumerations numbers.

// They are written as records are in JSON; see appendField.

// otlpScope owns the attributes that begin with "heed.". Its version is that of their meaning.
const otlpScope = `"scope":{"name":"github.com/heedlog/heed","version":"1"}`

// otlpRecord writes one record: first its fields in order, then its attributes.
type otlpRecord struct {
	out []byte
}

// begin begins a line with what comes before the attributes. Without a level there is no severity.
func (o *otlpRecord) begin(file string, at time.Time, severity int, level, body string) {
	o.out = append(o.out, `{"resourceLogs":[{"resource":{"attributes":[`...)
	o.text("log.file.name", baseName(file))
	o.text("log.file.path", file)
	o.out = append(o.out, `]},"scopeLogs":[{`+otlpScope+`,"logRecords":[{`...)
	if nanos := otlpTime(at); nanos != "" {
		o.out = append(append(append(o.out, `"timeUnixNano":"`...), nanos...), `",`...)
	}
	if level != "" {
		o.out = append(strconv.AppendInt(append(o.out, `"severityNumber":`...), int64(severity), 10), `,"severityText":"`...)
		o.out = append(append(o.out, level...), `",`...)
	}
	o.out = appendTemplate(append(o.out, `"body":{"stringValue":`...), body)
	o.out = append(o.out, `},"attributes":[`...)
}

// end ends the line.
func (o *otlpRecord) end(event string) []byte {
	o.out = append(o.out, ']')
	if event != "" {
		o.out = append(append(append(o.out, `,"eventName":"`...), event...), '"')
	}
	return append(o.out, "}]}]}]}\n"...)
}

func (o *otlpRecord) key(key string) {
	if o.out[len(o.out)-1] != '[' {
		o.out = append(o.out, ',')
	}
	o.out = append(append(append(o.out, `{"key":"`...), key...), `","value":`...)
}

// text adds an attribute, unless it is empty. Lines of text stay lines.
func (o *otlpRecord) text(key, value string) {
	if value == "" {
		return
	}
	o.key(key)
	o.out = append(appendTemplate(append(o.out, `{"stringValue":`...), value), "}}"...)
}

func (o *otlpRecord) number(key string, value uint64) {
	o.key(key)
	o.out = append(strconv.AppendUint(append(o.out, `{"intValue":"`...), value, 10), `"}}`...)
}

// flag adds an attribute where it is true.
func (o *otlpRecord) flag(key string, value bool) {
	if value {
		o.key(key)
		o.out = append(o.out, `{"boolValue":true}}`...)
	}
}

// list adds an attribute, unless it is empty.
func (o *otlpRecord) list(key string, values []string) {
	if len(values) == 0 {
		return
	}
	o.key(key)
	o.out = append(o.out, `{"arrayValue":{"values":[`...)
	for i, value := range values {
		if i > 0 {
			o.out = append(o.out, ',')
		}
		o.out = append(appendTemplate(append(o.out, `{"stringValue":`...), value), '}')
	}
	o.out = append(o.out, "]}}}"...)
}

// otlpTime is a time in nanoseconds since 1970, "" where it is unknown or out of range.
func otlpTime(t time.Time) string {
	if t.IsZero() || t.Unix() < 0 || t.Unix() > math.MaxInt64/int64(time.Second)-1 {
		return ""
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}

// otlpSeverity returns OTLP's number for a weight from info on: the lowest of its range.
func otlpSeverity(weight int) int { return 9 + 4*weight }

// AppendUpdateOTLP appends u as an OTLP log record, one line of JSON: the event
// "heed.attention" with the item's summary as its body. The time is that of the
// entry that prompted the update, zero where it is not known.
func AppendUpdateOTLP(dst []byte, file string, at time.Time, u *heed.Update) []byte {
	a := &u.Item
	o := otlpRecord{dst}
	o.begin(file, at, otlpSeverity(int(a.Severity)), a.Severity.String(), a.Summary)
	o.text("heed.update", u.Kind)
	o.text("heed.reason", string(u.Reason))
	o.text("heed.attention.id", a.ID)
	o.text("heed.attention.state", a.State)
	o.text("heed.attention.predecessor", a.Predecessor)
	o.text("heed.disposition", a.Disposition.String())
	o.text("heed.severity", a.Severity.String())
	o.flag("heed.state_invalidated", a.StateInvalidated)
	o.text("heed.rule", a.Cause.Rule)
	o.text("heed.signature", a.Cause.Signature.ID.String())
	o.number("heed.entries", a.TotalUrgentEntries)
	o.number("heed.groups", uint64(a.Groups))
	o.number("heed.line", u.Pos)
	o.number("heed.cause_line", a.Cause.Pos)
	o.list("heed.blame", a.Blame)
	o.text("heed.operation.id", a.CausalOperationID)
	o.text("heed.operation.method", a.CausalMethod)
	if len(a.Sample) > 0 {
		o.text("heed.sample", a.Sample[0].Message)
	}
	return o.end("heed.attention")
}

// AppendRecordOTLP appends a record of a capture as an OTLP log record, one line
// of JSON. The body is the message of the log record that was read, and the
// template where that was none. r.Blame becomes the names of the mods.
func AppendRecordOTLP(dst []byte, r *Record, e *event.Entry) []byte {
	var log event.Entry // of another entry no more than the time is written
	if log.Time = e.Time; e.Kind == event.KindLog {
		log = *e
	}
	body := cmp.Or(log.Message, r.Template)
	level, weight := "", 0
	if r.Level != event.LevelUnknown {
		level, weight = r.Level.String(), otlpSeverity(int(r.Level)-int(event.LevelInfo))
	}
	template, _, _ := strings.Cut(r.Template, "\n") // its frames are those of the stack
	o := otlpRecord{dst}
	o.begin(r.File, log.Time, weight, level, body)
	o.text("heed.kind", r.Kind)
	o.text("heed.disposition", r.Disposition.String())
	o.text("heed.severity", r.Severity.String())
	o.text("heed.rule", r.Rule)
	o.flag("heed.escalated", r.Escalated)
	o.text("heed.signature", r.Signature.String())
	o.text("heed.template", template)
	o.text("heed.phase", r.Phase)
	o.number("heed.line", uint64(r.StartLine))
	o.number("heed.end_line", uint64(r.EndLine))
	o.list("heed.blame", blame.Likely(r.Blame))
	o.text("heed.operation.id", log.OperationID)
	o.text("heed.source", log.Source)
	o.text("code.stacktrace", log.Stack)
	return o.end("")
}
