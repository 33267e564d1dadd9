package report

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/safetext"
)

// The OTLP forms are JSON lines, each an ExportLogsServiceRequest in the JSON
// encoding of OTLP 1.x with one log record: what the file receiver of the
// OpenTelemetry Collector reads, and what may be posted to /v1/logs as it is.
// 64-bit integers are strings there, and enumerations numbers.

type otlpRequest struct {
	ResourceLogs [1]otlpResourceLogs `json:"resourceLogs"`
}

type otlpResourceLogs struct {
	Resource  otlpResource     `json:"resource"`
	ScopeLogs [1]otlpScopeLogs `json:"scopeLogs"`
}

type otlpResource struct {
	Attributes []otlpAttribute `json:"attributes"`
}

type otlpScopeLogs struct {
	Scope      otlpScope     `json:"scope"`
	LogRecords [1]otlpRecord `json:"logRecords"`
}

type otlpScope struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type otlpRecord struct {
	Time       string          `json:"timeUnixNano,omitempty"` // none: unknown
	Severity   int             `json:"severityNumber,omitempty"`
	Level      string          `json:"severityText,omitempty"`
	Body       otlpValue       `json:"body"`
	Attributes []otlpAttribute `json:"attributes"`
	Event      string          `json:"eventName,omitempty"`
}

type otlpAttribute struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

// otlpValue is an AnyValue: one of its fields.
type otlpValue struct {
	String *string    `json:"stringValue,omitempty"`
	Bool   *bool      `json:"boolValue,omitempty"`
	Int    *string    `json:"intValue,omitempty"`
	Array  *otlpArray `json:"arrayValue,omitempty"`
}

type otlpArray struct {
	Values []otlpValue `json:"values"`
}

// otlpAttributes builds a list of attributes; what is empty is left out.
type otlpAttributes []otlpAttribute

func otlpString(s string) otlpValue { return otlpValue{String: &s} }

func (a *otlpAttributes) add(key string, value otlpValue) {
	*a = append(*a, otlpAttribute{key, value})
}

func (a *otlpAttributes) text(key, value string) {
	if value != "" {
		a.add(key, otlpString(safeLines(value)))
	}
}

func (a *otlpAttributes) number(key string, value uint64) {
	s := strconv.FormatUint(value, 10)
	a.add(key, otlpValue{Int: &s})
}

func (a *otlpAttributes) flag(key string, value bool) {
	if value {
		a.add(key, otlpValue{Bool: &value})
	}
}

func (a *otlpAttributes) list(key string, names []string) {
	if len(names) == 0 {
		return
	}
	values := make([]otlpValue, len(names))
	for i, name := range names {
		values[i] = otlpString(safetext.Text(name, 0))
	}
	a.add(key, otlpValue{Array: &otlpArray{values}})
}

// otlpSchema is the version of the attributes' meaning, the scope's version.
const otlpSchema = "1"

func appendOTLP(dst []byte, file string, rec *otlpRecord) []byte {
	var resource otlpAttributes
	resource.text("log.file.name", baseName(file))
	resource.text("log.file.path", file)
	var request otlpRequest
	request.ResourceLogs[0].Resource.Attributes = resource
	scope := &request.ResourceLogs[0].ScopeLogs[0]
	scope.Scope = otlpScope{Name: "github.com/heedlog/heed", Version: otlpSchema}
	scope.LogRecords[0] = *rec
	return appendJSON(dst, &request)
}

// baseName is the last part of a path of any system.
func baseName(file string) string { return file[strings.LastIndexAny(file, `/\`)+1:] }

// otlpTime is a time in nanoseconds since 1970, "" where it is unknown or cannot
// be said so.
func otlpTime(t time.Time) string {
	if t.IsZero() || t.Unix() < 0 || t.Unix() > math.MaxInt64/int64(time.Second)-1 {
		return ""
	}
	return strconv.FormatInt(t.UnixNano(), 10)
}

// otlpSeverities are OTLP's numbers for each level: the lowest of each range.
var otlpSeverities = [...]int{
	event.LevelUnknown: 0,
	event.LevelDebug:   5,
	event.LevelInfo:    9,
	event.LevelWarning: 13,
	event.LevelError:   17,
	event.LevelFatal:   21,
}

// otlpWeights are the same for severities.
var otlpWeights = [...]int{
	event.SeverityInfo:    9,
	event.SeverityWarning: 13,
	event.SeverityError:   17,
	event.SeverityFatal:   21,
}

// AppendUpdateOTLP appends u as an OTLP log record, one line of JSON: the event
// "heed.attention" with the item's summary as its body. The time is that of the
// entry that prompted the update, zero where it is not known.
func AppendUpdateOTLP(dst []byte, file string, at time.Time, u *heed.Update) []byte {
	a := &u.Attention
	var attributes otlpAttributes
	attributes.text("heed.update", u.Kind.String())
	attributes.text("heed.reason", string(u.Reason))
	attributes.text("heed.attention.id", a.ID)
	attributes.text("heed.attention.state", a.State)
	attributes.text("heed.attention.predecessor", a.Predecessor)
	attributes.text("heed.disposition", a.Disposition.String())
	attributes.text("heed.severity", a.Severity.String())
	attributes.flag("heed.state_invalidated", a.StateInvalidated)
	attributes.text("heed.rule", a.Cause.Rule)
	attributes.text("heed.signature", a.Cause.Signature.ID.String())
	attributes.number("heed.entries", a.TotalUrgentEntries)
	attributes.number("heed.groups", uint64(a.Groups))
	attributes.number("heed.line", u.Pos)
	attributes.number("heed.cause_line", a.Cause.Pos)
	attributes.list("heed.blame", a.Blame)
	attributes.text("heed.operation.id", a.CausalOperationID)
	attributes.text("heed.operation.method", a.CausalMethod)
	if len(a.Sample) > 0 {
		attributes.text("heed.sample", a.Sample[0].Message)
	}
	return appendOTLP(dst, file, &otlpRecord{
		Time: otlpTime(at), Severity: otlpWeights[a.Severity], Level: a.Severity.String(),
		Body: otlpString(safetext.Text(a.Summary, 0)), Attributes: attributes, Event: "heed.attention",
	})
}

// AppendRecordOTLP appends a record of a capture as an OTLP log record, one line
// of JSON. The body is the message of the log record that was read, and the
// template where that was none. r.Blame becomes the names of the mods.
func AppendRecordOTLP(dst []byte, r *Record, log *event.Log) []byte {
	body := log.Message
	if body == "" {
		body = r.Template
	}
	var attributes otlpAttributes
	attributes.text("heed.kind", r.Kind)
	attributes.text("heed.disposition", r.Disposition.String())
	attributes.text("heed.severity", r.Severity.String())
	attributes.text("heed.rule", r.Rule)
	attributes.flag("heed.escalated", r.Escalated)
	attributes.text("heed.signature", r.Signature.String())
	attributes.text("heed.template", r.Template)
	attributes.text("heed.phase", r.Phase)
	attributes.number("heed.line", uint64(r.StartLine))
	attributes.number("heed.end_line", uint64(r.EndLine))
	attributes.list("heed.blame", heed.Likely(r.Blame))
	attributes.text("heed.operation.id", log.OperationID)
	attributes.text("heed.source", log.Source)
	attributes.text("code.stacktrace", log.Stack)
	rec := otlpRecord{
		Time: otlpTime(log.Time), Body: otlpString(safeLines(body)), Attributes: attributes,
	}
	if r.Level != event.LevelUnknown {
		rec.Severity, rec.Level = otlpSeverities[r.Level], r.Level.String()
	}
	return appendOTLP(dst, r.File, &rec)
}
