package coalesce

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/signature"
)

// TestTranscripts plays the scripts in testdata and compares what the
// coalescer says with what they hold. A script has lines of prose (#), commands
// and, indented behind "|", what a command printed. To change one, run the test
// with -update and read the difference.
func TestTranscripts(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			testkit.Golden(t, file, play(t, string(raw), func(a *Item) { checkWire(t, a) }))
		})
	}
}

// play runs a script and returns it with its output. Each item that the script
// shows is passed to see.
func play(t *testing.T, script string, see func(*Item)) string {
	var out strings.Builder
	p := player{t: t, see: see}
	for line := range strings.SplitSeq(strings.TrimRight(script, "\n"), "\n") {
		if strings.HasPrefix(strings.TrimSpace(line), "|") {
			continue
		}
		out.WriteString(line + "\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		for _, l := range p.do(strings.Fields(line)) {
			out.WriteString("  | " + l + "\n")
		}
		if p.c != nil {
			s := p.c.Stats()
			require.NoError(t, s.Check(), line)
			checkStructure(t, p.c)
		}
	}
	checkSnapshot(t, p.c)
	return out.String()
}

type player struct {
	t   *testing.T
	see func(*Item)
	c   *Coalescer
	seq uint64
	now time.Time // of entries; zero: they have no clock

	host time.Time // of the host, where entries have no clock; zero: the same

	blind map[string]bool
	phase string
}

func (p *player) do(words []string) []string {
	cmd, args := words[0], map[string]string{}
	for i, w := range words[1:] {
		k, v, ok := strings.Cut(w, "=")
		if !ok {
			k, v = strconv.Itoa(i), w
		}
		args[k] = v
	}
	number := func(s string) int {
		n, err := strconv.Atoi(s)
		require.NoError(p.t, err, words)
		return n
	}
	duration := func(s string) time.Duration {
		d, err := time.ParseDuration(s)
		require.NoError(p.t, err, words)
		return d
	}
	switch cmd {
	case "new": // new [open=N] [groups=N] [remembered=N] [operations=N] [quiet=DURATION] [clock|hostclock]
		cfg := Config{QuietTime: Window{1, 1}, MaxOpen: 12, MaxRemembered: 12} // next to no quiet time
		if v := args["quiet"]; v != "" {
			cfg.QuietTime = Window{duration(v), 500}
		}
		for name, field := range map[string]*int{
			"open": &cfg.MaxOpen, "groups": &cfg.MaxGroups, "remembered": &cfg.MaxRemembered, "operations": &cfg.MaxOperations,
			"consumers": &cfg.MaxConsumers,
		} {
			if v := args[name]; v != "" {
				*field = number(v)
			}
		}
		c, err := New(cfg)
		require.NoError(p.t, err)
		*p = player{t: p.t, see: p.see, c: c, blind: map[string]bool{}}
		start := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
		switch words[len(words)-1] {
		case "clock":
			p.now = start
		case "hostclock":
			p.host = start
		}
		return nil
	case "restart": // the process ends, and another one goes on with a snapshot
		c, err := restored(p.c.Config, snap(p.c, nil))
		require.NoError(p.t, err)
		p.c = c
		return nil
	case "advance": // advance DURATION: of the host's clock, which tells the time
		clock := &p.now
		if !p.host.IsZero() {
			clock = &p.host
		}
		*clock = clock.Add(duration(args["0"]))
		p.c.Advance(*clock)
		return p.updates()
	case "pass": // pass DURATION: of the clock that entries have
		p.now = p.now.Add(duration(args["0"]))
		return nil
	case "quiet": // quiet N: N ignored entries
		for range number(args["0"]) {
			p.fold(event.Entry{Message: "nothing"}, Input{Decision: event.Decision{Rule: "noise"}})
		}
		return p.updates()
	// DISPOSITION RULE GROUP [variant=V] [frame=N] [mod=M] [op=ID] [severity=S] [times=N] [invalidates=yes] [summary=S]
	case "blocking", "advisory":
		times := 1
		if v := args["times"]; v != "" {
			times = number(v)
		}
		disposition, _ := event.Parse[event.Disposition](cmd)
		severity := map[event.Disposition]event.Severity{
			event.Blocking: event.SeverityError,
			event.Advisory: event.SeverityWarning,
		}[disposition]
		if v := args["severity"]; v != "" {
			severity, _ = event.Parse[event.Severity](v)
		}
		frame := 0
		if v := args["frame"]; v != "" {
			frame = number(v)
		}
		var mods []string
		if v := args["mod"]; v != "" {
			mods = []string{v}
		}
		for range times {
			p.fold(event.Entry{Message: args["0"] + " in " + args["1"], OperationID: args["op"]}, Input{
				Signature: groupSignature(args["1"]), Frame: uint64(frame), Blame: mods,
				Variant: strings.ReplaceAll(args["variant"], "_", " "),
				Decision: event.Decision{
					Rule: args["0"], Disposition: disposition, Severity: severity,
					Invalidates: args["invalidates"] != "",
				},
				Summary: strings.ReplaceAll(args["summary"], "_", " "),
			})
		}
		if args["undrained"] != "" {
			return nil
		}
		return p.updates()
	case "started", "completed", "failed", "cancelled", "timed_out": // STATUS OP [parent=ID] [method=M]; "-" is no id
		status, _ := event.Parse[event.Status](cmd)
		p.operation(status, args)
		return p.updates()
	case "distinct": // distinct N DISPOSITION RULE [...]: N entries, each of its own group
		for i := range number(args["0"]) {
			p.do(append([]string{args["1"], args["2"], fmt.Sprint("form", i), "undrained=yes"}, words[4:]...))
		}
		return p.updates()
	case "merge": // merge FROM INTO
		p.c.Merge(groupSignature(args["0"]), groupSignature(args["1"]))
		return p.updates()
	case "phase":
		p.phase = args["0"]
		p.fold(event.Entry{Kind: event.KindState, Status: event.StatusPhase, Message: args["0"]}, Input{NewPhase: true})
		return p.updates()
	case "blinds": // blinds RULE
		p.blind[args["0"]] = true
		p.fold(event.Entry{Message: "no more logging"}, Input{
			Signature: groupSignature(args["0"]), Begins: true,
			Decision: event.Decision{Rule: args["0"], Disposition: event.Blocking, Severity: event.SeverityWarning},
		})
		return p.updates()
	case "notice": // notice STATUS
		status, ok := event.Parse[event.Status](args["0"])
		require.True(p.t, ok && status.Kind() == event.KindNotice)
		p.fold(event.Entry{Kind: event.KindNotice, Status: status}, Input{
			Signature: groupSignature(args["0"]),
			Decision:  event.Decision{Rule: "notice." + args["0"], Disposition: event.Advisory, Severity: event.SeverityWarning},
		})
		return p.updates()
	case "resolves": // resolves RULE
		delete(p.blind, args["0"])
		p.fold(event.Entry{Message: "fine again"}, Input{Resolves: []string{args["0"]}})
		return p.updates()
	case "raise": // raise KEY DISPOSITION [invalidates=yes]
		disposition, _ := event.Parse[event.Disposition](args["1"])
		p.fold(event.Entry{Kind: event.KindHost, Status: event.StatusRaised, Message: "as the host says"}, Input{
			Signature: groupSignature(args["0"]), Raised: args["0"],
			Decision: event.Decision{
				Rule: "host." + args["0"], Disposition: disposition, Severity: event.SeverityError,
				Invalidates: args["invalidates"] != "",
			},
		})
		return p.updates()
	case "withdraw": // withdraw ID
		return append([]string{fmt.Sprintf("withdrawn=%v", p.c.Withdraw(args["0"]))}, p.updates()...)
	case "newrun": // another run of the game begins
		p.fold(event.Entry{Message: "starting"}, Input{NewPhase: true, NewRun: true})
		return p.updates()
	case "endlog":
		p.c.EndLog()
		return p.updates()
	case "loads": // a game is loaded
		p.fold(event.Entry{Message: "loading"}, Input{NewPhase: true, Fresh: true})
		return p.updates()
	case "quietcalls": // quietcalls N METHOD: N calls, 10 s apart, in which nothing happens
		for i := range number(args["0"]) {
			id := fmt.Sprint("quiet", i)
			p.do([]string{"started", id, "method=" + args["1"]})
			p.do([]string{"completed", id})
			p.do([]string{"pass", "10s"})
		}
		return p.updates()
	case "exits": // the process of the game ends
		p.fold(event.Entry{Kind: event.KindState, Status: event.StatusExited}, Input{
			Signature: groupSignature("exit"),
			Decision:  event.Decision{Rule: "exit", Disposition: event.Blocking, Severity: event.SeverityError},
		})
		return p.updates()
	case "stalls": // the game gives no sign of life
		p.fold(event.Entry{Kind: event.KindState, Status: event.StatusStall}, Input{
			Signature: groupSignature("stall"),
			Decision:  event.Decision{Rule: "stall", Disposition: event.Blocking, Severity: event.SeverityError},
		})
		return p.updates()
	case "playing": // evidence of play
		p.fold(event.Entry{Message: "a tick"}, Input{Playing: true})
		return p.updates()
	case "read": // the state is read
		p.c.StateRead()
		return nil
	case "attach": // attach VIEWER
		p.seq++
		e := event.Entry{Kind: event.KindHost, Status: event.StatusAttached, Seq: p.seq, Pos: p.seq, Time: p.now}
		p.c.Attach(args["0"], &Input{Entry: &e, Blind: len(p.blind) > 0, Decision: p.c.Arrival(args["0"])})
		return p.updates()
	case "detach": // detach VIEWER
		p.c.Detach(args["0"])
		return nil
	case "delivered": // delivered CONSUMER ID SEQ
		p.c.Delivered(args["0"], args["1"], uint64(number(args["2"])))
		return nil
	case "view": // view CONSUMER
		a, ok := p.c.Current(args["0"])
		if !ok {
			return []string{"nothing"}
		}
		return []string{p.describe(&a)}
	case "ack": // ack ID [upto=SEQ] [by=VIEWER]
		through := 0
		if v := args["upto"]; v != "" {
			through = number(v)
		}
		res := p.c.Ack(args["by"], args["0"], uint64(through))
		line := fmt.Sprintf("acknowledged=%v already=%v watermark=%d successor=%q covered=%v current=%s", res.Acknowledged,
			res.Already, res.Watermark, res.Successor, res.Covered, res.Current.ID)
		return append([]string{line}, p.updates()...)
	case "current":
		a, ok := p.c.Current("")
		if !ok {
			return []string{"nothing"}
		}
		return []string{p.describe(&a)}
	case "verdict": // verdict OP...
		var lines []string
		for _, op := range words[1:] {
			v := p.c.Verdict(op)
			require.NotContains(p.t, v.Text, "*")
			lines = append(lines, fmt.Sprintf("%s (%s) known=%v final=%v abandoned=%v status=%s item=%s",
				v.Outcome, v.Reason, v.Known, v.Final,
				v.Abandoned, v.Status, v.AttentionID))
		}
		return lines
	case "open": // every open item
		var lines []string
		for _, a := range openItems(p.c) {
			lines = append(lines, p.describe(&a))
		}
		return lines
	case "item": // item ID
		a, ok := p.c.Item(args["0"])
		require.True(p.t, ok)
		return []string{p.describe(&a)}
	case "samples": // samples ID
		a, ok := p.c.Item(args["0"])
		require.True(p.t, ok)
		var lines []string
		for _, s := range a.Sample {
			line := fmt.Sprintf("%s x%d %q", s.Level, s.RepeatCount, s.Message)
			for _, v := range s.Variants {
				line += fmt.Sprintf(" %s×%d", v.name(), v.Count)
			}
			lines = append(lines, line)
		}
		return lines
	case "stats":
		s := p.c.Stats()
		return []string{fmt.Sprintf("received=%d ignored=%d folded=%d suppressed=%d opened=%d open=%d "+
			"cleared=%d evicted=%d overflowed=%d dropped=%d abandoned=%d",
			s.Received, s.Ignored, s.Folded, s.Suppressed, s.Opened, s.Open,
			s.Cleared, s.Evicted, s.Overflowed, s.UpdatesDropped, s.OperationsAbandoned)}
	}
	p.t.Fatalf("unknown command %q", cmd)
	return nil
}

func (p *player) operation(status event.Status, args map[string]string) {
	in := Input{}
	switch status {
	case event.StatusFailed:
		in.Decision = event.Decision{
			Rule: "default.operation.failed", Disposition: event.Advisory,
			Severity: event.SeverityWarning,
		}
	case event.StatusTimedOut, event.StatusCancelled:
		in.Decision = event.Decision{
			Rule: "default.operation." + status.String(), Disposition: event.Blocking,
			Severity: event.SeverityError, Invalidates: true,
		}
	}
	in.Signature = groupSignature(status.String())
	p.fold(event.Entry{
		Kind: event.KindOperation, Status: status, OperationID: strings.TrimPrefix(args["0"], "-"), Parent: args["parent"],
		Source: strings.ReplaceAll(args["method"], "~", " "),
	}, in)
}

func (p *player) fold(e event.Entry, in Input) {
	p.seq++
	e.Seq, e.Pos, e.Time = p.seq, p.seq, p.now
	in.Entry, in.Blind, in.Phase = &e, len(p.blind) > 0, p.phase
	p.c.Fold(&in)
}

func (p *player) updates() []string {
	var lines []string
	for _, u := range updates(p.c) {
		lines = append(lines, fmt.Sprintf("%s (%s) at %d: %s", u.Kind, u.Reason, u.Seq, p.describe(&u.Item)))
	}
	return lines
}

func (p *player) describe(a *Item) string {
	p.see(a)
	s := fmt.Sprintf("%s %s %s n=%d groups=%d opened=%d cause=%d latest=%d", a.ID, a.Disposition, a.Severity,
		a.TotalUrgentEntries, a.Groups, a.OpenedAtSequence, a.Cause.Seq, a.LatestSequence)
	require.Equal(p.t, []uint64{a.OpenedAtSequence, a.LatestSequence, a.Cause.Seq},
		[]uint64{a.OpenedPos, a.LatestPos, a.Cause.Pos}, "positions are sequence numbers here")
	if a.CausalOperationID != "" {
		s += " caused-by=" + a.CausalOperationID
	}
	if a.Cause.Phase != "" {
		s += " phase=" + a.Cause.Phase
	}
	return s + " | " + a.Summary
}

// groupSignature returns a signature for a name, the same in each run.
func groupSignature(name string) signature.Signature {
	var h uint64 = 1469598103934665603
	for i := range len(name) {
		h = (h ^ uint64(name[i])) * 1099511628211
	}
	return signature.Signature{ID: signature.ID(h % 5), Check: uint32(h >> 32)} // many share an id
}
