package bridge

import (
	"context"
	_ "embed"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"sync"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/capture/follow"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/internal/schema"
	"github.com/heedlog/heed/internal/text"
)

// The names of the tools.
const (
	ToolStatus     = "heed/status"
	ToolItems      = "heed/items"
	ToolItem       = "heed/item"
	ToolBrief      = "heed/brief"
	ToolAck        = "heed/ack"
	ToolEntries    = "heed/entries"
	ToolWait       = "heed/wait"
	ToolOperations = "heed/operations"
	ToolOperation  = "heed/operation"
	ToolExplain    = "heed/explain"
	ToolTimeline   = "heed/timeline"
)

// definitions are the tools as tools/list has them, in the order in which an agent needs them.
var definitions = sync.OnceValue(func() *gabp.Tools {
	all := &gabp.Tools{}
	add(all, ToolStatus, Tags(), (*Diagnostics).status)
	add(all, ToolItems, Tags(), (*Diagnostics).items)
	add(all, ToolItem, Tags(), (*Diagnostics).detail)
	add(all, ToolBrief, Tags(), (*Diagnostics).brief)
	add(all, ToolAck, []string{"attention-bypass"}, (*Diagnostics).acknowledge)
	add(all, ToolEntries, Tags(), (*Diagnostics).entries)
	add(all, ToolWait, Tags(), (*Diagnostics).wait)
	add(all, ToolOperations, Tags(), (*Diagnostics).operations)
	add(all, ToolOperation, Tags(), (*Diagnostics).operation)
	add(all, ToolExplain, Tags(), (*Diagnostics).explain)
	add(all, ToolTimeline, Tags(), (*Diagnostics).timeline)
	return all
})

// wordsFile has the titles and descriptions of tools and resources, each below "== NAME".
//
//go:embed words.txt
var wordsFile string

// Words returns the title and the description of a tool or a resource. The title of "core NAME" lists the parameters of
// the tool that each client of MCP is given; it is "" if a client is not given the tool.
func Words(name string) (title, description string) {
	_, section, _ := strings.Cut(wordsFile, "== "+name+"\n")
	section, _, _ = strings.Cut(section, "\n== ")
	title, description, _ = strings.Cut(section, "\n")
	return title, strings.Join(strings.Fields(description), " ")
}

// add adds a tool that is a method. Its arguments are the struct In, its answer is the struct Out.
func add[In, Out any](
	all *gabp.Tools, name string, tags []string,
	call func(d *Diagnostics, ctx context.Context, consumer string, in In) (*Out, error),
) {
	input, defaults := inputSchema(reflect.TypeFor[In]()), map[string]any{}
	for _, p := range input.Properties {
		if p.Schema.Default != nil {
			defaults[p.Name] = p.Schema.Default
		}
	}
	output := schema.Form{Values: []any{*new(Out)}}
	def := gabp.Tool{
		Name: name, Tags: tags, InputSchema: Encode(input), OutputSchema: Encode(json.RawMessage(output.JSON())),
	}
	def.Title, def.Description = Words(name)
	err := all.Add(def, func(ctx context.Context, c *gabp.Call) (any, error) {
		given := maps.Clone(defaults)
		_ = json.Unmarshal(c.Arguments, &given) // they follow the schema
		var in In
		_ = json.Unmarshal(Encode(given), &in) // in which 3.0 is 3
		who := ctx.Value(callerKey{}).(caller)
		return call(who.d, ctx, who.consumer, in)
	})
	if err != nil {
		panic("BUG: bridge: " + err.Error())
	}
}

// Diagnostics answers calls of heed's own tools, and reads of its resources. Make
// one with [NewDiagnostics].
type Diagnostics struct {
	session *session.Session
	briefer Briefer // or nil
	limits  func() []session.Limit
	epoch   string // of the engine
	run     string // of the timeline, which a restart does not keep
}

// NewDiagnostics returns the diagnostics of a session. Brief assembles the briefs of [ToolBrief]; without it the tool
// returns an error. Limits returns the bounds that the host itself has hit; it is called from many
// goroutines.
func NewDiagnostics(s *session.Session, brief Briefer, limits func() []session.Limit) *Diagnostics {
	st := s.Status()
	return &Diagnostics{session: s, briefer: brief, limits: limits, epoch: st.Epoch, run: st.Run}
}

// Tags returns the tags of each tool but [ToolAck]: those by which bridges and gates recognize what only reads.
func Tags() []string { return []string{"diagnostic", "diagnostics", "read-only"} }

// Tools returns the definitions of the tools, for tools/list. The list belongs to the caller; its schemas and tags are
// read only.
func Tools() []gabp.Tool {
	list, _ := definitions().List(nil) // without parameters nothing is refused
	return list
}

// caller holds the consumer and the diagnostics of a call, in the context of the call: all diagnostics share the tools.
type caller struct {
	d        *Diagnostics
	consumer string
}

type callerKey struct{}

// Call calls a tool for a consumer. Known is false if no tool has this name; then there is no result and no error.
// An error is a [*gabp.Error].
func (d *Diagnostics) Call(
	ctx context.Context, consumer string, call gabp.ToolCall,
) (result any, known bool, err error) {
	result, err = definitions().Call(context.WithValue(ctx, callerKey{}, caller{d, consumer}), nil, call)
	if isCode(err, gabp.CodeToolNotFound) {
		return nil, false, nil
	}
	return result, true, err
}

// sync ingests the present log. It returns the reason why newer entries may be missing, "" on success.
func (d *Diagnostics) sync(ctx context.Context) string {
	if d.session.Sync(ctx) != nil {
		return "heed could not read the log to its end in time; newer entries may be missing"
	}
	return ""
}

const maxRuleFiles = 64

// Status is the answer of heed/status.
type Status struct {
	session.Status

	Latest    string `json:"latest" jsonschema:"The cursor after the latest entry: use it as after of heed/wait."`
	OpenItems int    `json:"openItems" jsonschema:"How many attention items are open; heed/items lists them."`

	Phase     string `json:"phase" jsonschema:"The phase of the game that rules use; empty: not known."`
	Blind     bool   `json:"blind" jsonschema:"Blind: the log is incomplete, so silence does not mean that nothing happened."`
	BlindRule string `json:"blindRule,omitempty" jsonschema:"The rule that found this."`

	Counts heed.Stats `json:"counts" jsonschema:"Counts of entries."`
	Log    *LogStatus `json:"log,omitempty" jsonschema:"The followed log, if there is one."`
	Behind string     `json:"behind,omitempty" jsonschema:"Why newer entries may be missing."`
}

// LogStatus is the state of the following of the log.
type LogStatus struct {
	follow.Status

	Error string `json:"error,omitempty" jsonschema:"Why it cannot be followed now."`
}

// status answers heed/status.
func (d *Diagnostics) status(ctx context.Context, _ string, _ struct{}) (*Status, error) {
	behind := d.sync(ctx)
	latest := cursorText(d.epoch, d.session.Engine().Latest().Seq)
	out := &Status{Status: d.session.Status(), Behind: behind, Latest: latest}
	e := &out.Engine
	out.Counts, out.Limits = *e, append(out.Limits, d.limits()...)
	out.OpenItems, out.Phase, out.Blind, out.BlindRule = e.Coalesce.Open, e.Phase, e.Blind, e.BlindRule
	r := &out.Rules
	r.Omitted = max(0, len(r.Files)-maxRuleFiles)
	r.Files = r.Files[:len(r.Files)-r.Omitted]
	if l := out.Status.Log; l != nil {
		out.Log = &LogStatus{Status: *l}
		out.Log.Offset, out.Log.Size = max(0, l.Offset), max(0, l.Size)
		if l.LastError != nil {
			out.Log.Error = l.LastError.Error()
		}
	}
	fit(reflect.ValueOf(out))
	return out, nil
}

// fit makes all that v points to fit to be shown: each text harmless and at most maxSaid characters long, each number
// an [integer], each time a [stamp]. Lists are copied, since others may read them.
func fit(v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(said(v.String()))
	case reflect.Uint64:
		v.SetUint(integer(v.Uint()))
	case reflect.Pointer:
		if !v.IsNil() {
			fit(v.Elem())
		}
	case reflect.Slice:
		v.Set(reflect.AppendSlice(v.Slice3(0, 0, 0), v))
		for i := range v.Len() {
			fit(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			v.SetMapIndex(key, reflect.ValueOf(said(v.MapIndex(key).String())))
		}
	case reflect.Struct:
		if t, ok := reflect.TypeAssert[*time.Time](v.Addr()); ok {
			*t = stamp(*t)
			return
		}
		for _, field := range v.Fields() {
			if field.CanSet() {
				fit(field)
			}
		}
	}
}

// maxInteger is the largest integer that every JSON reader keeps.
const maxInteger = 1<<53 - 1

// maxNameChars bounds names in answers, in characters, and maxSaid sentences of rule files and errors.
const (
	maxNameChars = 200
	maxSaid      = 600
)

// named returns a name from a peer or a rule file, safe to show.
func named(s string) string { return text.Safe(s, maxNameChars) }

// said returns a sentence from the owner's files, the system or the host, safe to show.
func said(s string) string { return text.Safe(s, maxSaid) }

// allNamed returns at most limit names.
func allNamed(list []string, limit int) []string {
	var out []string
	for _, s := range list[:min(len(list), limit)] {
		out = append(out, named(s))
	}
	return out
}

// logText returns log text of at most limit characters on one line, and whether it
// was cut.
func logText(s string, limit int) (string, bool) {
	shown := text.Safe(s, limit)
	return shown, shown != s && shown != text.Safe(s, 0)
}

// logLines returns log text line by line, at most so many lines and characters in
// all, and whether it was cut.
func logLines(s string, lines, chars int) (out []string, cut bool) {
	for line := range strings.Lines(s) {
		if len(out) == lines || chars <= 0 {
			return out, true
		}
		shown, short := logText(strings.TrimRight(line, "\r\n"), chars)
		out = append(out, shown)
		cut = cut || short
		chars -= len(shown)
	}
	return out, cut
}

// integer bounds a number to what JSON readers keep.
func integer(n uint64) uint64 { return min(n, maxInteger) }

// stamp returns a time that has a form in JSON: in UTC, and zero for a year that has none.
func stamp(t time.Time) time.Time {
	if t = t.UTC().Round(0); t.Year() < 1 || t.Year() > 9999 {
		return time.Time{}
	}
	return t
}

// Encode returns the JSON form of plain data in one line, without escapes for HTML.
func Encode(v any) json.RawMessage { return text.JSON(v) }
