package sim

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// Played is what a play did.
type Played struct {
	Steps   int    // done
	Entries uint64 // that the engine received
	Items   uint64 // that it opened
	Digest  uint64 // of everything it answered,
	Lasting uint64 // and of all that a restart does not change
}

// Violation is an invariant that does not hold.
type Violation struct {
	Step int // index of the step after which it did not
	Call string
	Law  string // in a word or two
	Text string
}

// Error says which invariant, and where.
func (v *Violation) Error() string {
	return fmt.Sprintf("step %d: %s: %s: %s", v.Step, v.Call, v.Law, v.Text)
}

func violation(step int, call string, err error) *Violation {
	law, text, _ := strings.Cut(err.Error(), ": ")
	return &Violation{Step: step, Call: call, Law: law, Text: text}
}

// Play plays a script beside a model, and then again alone and without its restarts. But for the journal, which a restart
// loses, the answers must be the same. The error is a [Violation], or reports that the script makes no engine.
func Play(s *Script) (Played, error) {
	first, err := play(s, true)
	if err != nil {
		return first, err
	}
	c := Script{Setup: s.Setup, Steps: slices.DeleteFunc(slices.Clone(s.Steps), func(s Step) bool {
		return s.Verb == Restart
	})}
	second, err := play(&c, false)
	switch {
	case err != nil:
	case second.Lasting != first.Lasting:
		err = fmt.Errorf("determinism: two plays differ, or a restart does: %+v and %+v", first, second)
	case second.Digest != first.Digest && len(c.Steps) == len(s.Steps):
		err = fmt.Errorf("determinism: two plays differ: %+v and %+v", first, second)
	}
	if err != nil {
		err = violation(len(s.Steps), "at the end", err)
	}
	return first, err
}

func play(s *Script, checked bool) (Played, error) {
	p, err := newPlayer(&s.Setup, checked)
	if err != nil {
		return Played{}, err
	}
	for i := range s.Steps {
		if err := p.do(&s.Steps[i]); err != nil {
			return p.played(i), violation(i, s.Steps[i].String(), err)
		}
	}
	if p.model != nil {
		if err := p.model.end(); err != nil {
			return p.played(len(s.Steps)), violation(len(s.Steps), "at the end", err)
		}
	}
	return p.played(len(s.Steps)), nil
}

// Replay plays a script in its text form, and returns it with what the engine
// answered, each line behind "|". What stood there before is dropped; prose and
// empty lines stay. The error is that of [Play], after what was played.
func Replay(text string) (string, error) {
	var out strings.Builder
	var p *player
	number := 0
	for line := range strings.SplitSeq(strings.TrimRight(text, "\n"), "\n") {
		trimmed := strings.TrimSpace(line)
		if strings.HasPrefix(trimmed, "|") {
			continue
		}
		out.WriteString(line + "\n")
		if passive(line) {
			continue
		}
		if p == nil {
			var setup Setup
			if err := setup.parse(line); err != nil {
				return out.String(), err
			}
			var err error
			if p, err = newPlayer(&setup, true); err != nil {
				return out.String(), err
			}
			p.loud = true
			continue
		}
		step, err := ParseStep(line)
		if err != nil {
			return out.String(), err
		}
		err = p.do(&step)
		for _, l := range p.said {
			out.WriteString("  | " + l + "\n")
		}
		p.said = p.said[:0]
		if err != nil {
			return out.String(), violation(number, step.String(), err)
		}
		number++
	}
	if p == nil {
		return out.String(), nil
	}
	return out.String(), p.model.end()
}

// Epoch is that of every engine that is played.
const Epoch = "sim"

// hasty are windows that pass within a script.
func hasty(c *coalesce.Config) {
	c.MaxSkew = 3 * time.Second
	c.Linger = coalesce.Window{Duration: time.Second, Entries: 3}
	c.AmbientQuiet = coalesce.Window{Duration: 2 * time.Second, Entries: 8}
	c.AckMemory = coalesce.Window{Duration: 5 * time.Second, Entries: 30}
	c.AdvisoryTTL = coalesce.Window{Duration: 4 * time.Second, Entries: 15}
	c.OperationMax = coalesce.Window{Duration: 6 * time.Second, Entries: 40}
	c.QuietTime = coalesce.Window{Duration: 100 * time.Millisecond, Entries: 2}
}

// config returns the configuration of an engine, with every window and count
// that the model needs filled in.
func (s *Setup) config() (heed.Config, error) {
	set, err := ruleSet()
	if err != nil {
		return heed.Config{}, err
	}
	c := heed.Config{
		Rules: set, Epoch: Epoch, Signatures: s.Signatures,
		Journal: journal.Config{
			Entries: cmp.Or(s.Entries, 1024), Bytes: cmp.Or(s.Bytes, 256<<10), Firsts: cmp.Or(s.Firsts, 512),
			FirstsBytes:    128 << 10,
			FirstsPerBurst: s.Quota, Pinned: cmp.Or(s.Pinned, 1024), PinnedBytes: 256 << 10,
		},
		Coalesce: coalesce.Config{
			MaxOpen: cmp.Or(s.Open, 6), MaxRemembered: cmp.Or(s.Remembered, 6), MaxGroups: cmp.Or(s.Groups, 48),
			MaxSamples:    cmp.Or(s.Samples, 5),
			MaxOperations: cmp.Or(s.Operations, 32), MaxNamed: cmp.Or(s.Named, 3), MaxConsumers: cmp.Or(s.Consumers, 8),
			MaxSummaryTokens: 128, MaxSkew: time.Minute,
			Linger:       coalesce.Window{Duration: 2 * time.Second, Entries: 64},
			AmbientQuiet: coalesce.Window{Duration: 30 * time.Second, Entries: 256},
			AckMemory:    coalesce.Window{Duration: 10 * time.Minute, Entries: 20_000},
			AdvisoryTTL:  coalesce.Window{Duration: 5 * time.Minute, Entries: 5_000},
			OperationMax: coalesce.Window{Duration: 10 * time.Minute, Entries: 50_000},
			QuietTime:    coalesce.Window{Duration: time.Second, Entries: 20},
		},
	}
	c.Groups.Signatures, c.Groups.Columns = 4096, 4096
	if s.Signatures == 0 {
		c.Signatures = 4096
	}
	if s.Hasty {
		hasty(&c.Coalesce)
	}
	return c, nil
}

// player plays steps. Its model may be nil.
type player struct {
	engine *heed.Engine
	cfg    heed.Config
	model  *model
	clock  Clock
	now    time.Time
	steps  int
	taken  uint64 // entries
	pos    uint64

	loud   bool
	said   []string
	answer []byte
	digest [2]uint64 // Played.Digest and Played.Lasting
	fades  bool      // a restart may change what is answered now
}

func newPlayer(s *Setup, checked bool) (*player, error) {
	cfg, err := s.config()
	if err != nil {
		return nil, err
	}
	e, err := heed.New(cfg)
	if err != nil {
		return nil, err
	}
	p := &player{engine: e, cfg: cfg, clock: cmp.Or(s.Clock, Clockless), now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	if checked {
		p.model = newModel(e, s, &cfg)
	}
	return p, nil
}

func (p *player) played(steps int) Played {
	s := p.engine.Stats()
	return Played{Steps: steps, Entries: s.Received, Items: s.Coalesce.Opened, Digest: p.digest[0], Lasting: p.digest[1]}
}

// time returns the time of an entry.
func (p *player) time() time.Time {
	if p.clock == EntryClock {
		return p.now
	}
	return time.Time{}
}

// say notes an answer, which two plays must give alike.
func (p *player) say(format string, args ...any) {
	p.answer = fmt.Appendf(p.answer, format, args...)
	if p.loud {
		p.said = append(p.said, string(p.answer))
	}
	p.seal()
}

func (p *player) seal() {
	for i := range p.digest {
		if i == 1 && p.fades {
			continue
		}
		h := fnv.New64a()
		_, _ = h.Write(binary.LittleEndian.AppendUint64(nil, p.digest[i]))
		_, _ = h.Write(p.answer)
		p.digest[i] = h.Sum64()
	}
	p.answer = p.answer[:0]
}

// do does one step and lets the model check what it did.
func (p *player) do(s *Step) error {
	p.steps++
	p.fades = s.Verb == Read || s.Verb == Stats
	if err := p.act(s); err != nil {
		return err
	}
	if p.model != nil {
		return p.model.check()
	}
	return nil
}

func (p *player) act(s *Step) error {
	m := p.model
	switch s.Verb {
	case Log:
		return p.log(&event.Log{Level: s.Level, Source: s.Source, Message: s.Text, OperationID: s.Op})
	case Storm:
		return p.storm(s)
	case Op:
		p.pos++
		o := event.Operation{
			Time: p.time(), ID: s.Op, Parent: s.Parent, Method: s.Method, Status: s.Status, ByCaller: s.Yes, Pos: 7 * p.pos,
		}
		return p.took(o.Entry())
	case State:
		p.pos++
		st := event.State{Time: p.time(), Status: s.Status, Phase: s.Text, Pos: 7 * p.pos}
		if m != nil {
			m.heart.observe(s.Status)
		}
		return p.took(st.Entry())
	case Notice:
		p.pos++
		n := event.Notice{Time: p.time(), Status: s.Status, Pos: 7 * p.pos}
		return p.took(n.Entry())
	case Raise:
		p.pos++
		r := heed.Report{
			Time: p.time(), Key: s.Text, Disposition: s.Disposition, Severity: event.SeverityError, Invalidates: s.Yes,
			Message: "raised " + s.Text, OperationID: s.Op, Pos: 7 * p.pos,
		}
		id := p.engine.Raise(r)
		p.say("raised %s", id)
		if m != nil {
			return m.raised(&r, id)
		}
	case Clear:
		id := p.item(s.Item)
		if m != nil {
			return m.clear(p, id)
		}
		p.say("cleared=%v", p.engine.Clear(id))
	case Ack:
		id, through := p.item(s.Item), p.seq(s.Through)
		if m != nil {
			return m.ack(p, s.By, id, through)
		}
		res := p.engine.Ack(s.By, id, through)
		p.sayAck(&res)
	case View:
		a, ok := p.engine.Current(s.By)
		p.sayView(&a, ok)
		if m != nil {
			return m.view(s.By, &a, ok)
		}
	case Delivered:
		id, through := p.item(s.Item), p.seq(s.Through)
		ok := p.engine.Delivered(s.By, id, through)
		p.say("delivered=%v", ok)
		if m != nil {
			return m.showed(s.By, id, through, ok)
		}
	case Attach:
		if m != nil {
			return m.attach(p, s.By)
		}
		p.say("attached %s", p.engine.Attach(s.By, p.time()))
	case Detach:
		p.engine.Detach(s.By)
		if m != nil {
			m.detach(s.By)
		}
	case Drain:
		_, err := p.drain()
		return err
	case Reread:
		p.engine.StateRead()
		if m != nil {
			m.reads, m.reread = true, m.now.seq
		}
	case Expect:
		now := p.now
		if m != nil {
			m.heart.by = now.Add(s.For)
		}
		p.engine.Expect(now, now.Add(s.For))
		if m != nil && m.heart.stalled {
			m.heart.stalled = false
			return m.lively(event.Entry{Kind: event.KindState, Status: event.StatusRecovered, Time: now})
		}
	case Advance:
		p.now = p.now.Add(s.For)
		if p.clock == Clockless {
			return nil
		}
		p.engine.Advance(p.now)
		if m != nil {
			return m.advance(p.now)
		}
	case Pass:
		p.now = p.now.Add(s.For)
	case Verdict:
		v := p.engine.Verdict(s.Op)
		p.say("%s (%s) known=%v final=%v abandoned=%v status=%s item=%s", v.Outcome, v.Reason, v.Known, v.Final, v.Abandoned,
			v.Status, v.AttentionID)
	case Open:
		for _, a := range p.engine.Open(nil) {
			p.say("%s", describe(&a))
		}
	case Read:
		pg := p.engine.Read(heed.Cursor{Epoch: Epoch, Seq: p.seq(s.Through)}, s.N, heed.Filter{})
		p.say("held=%d lost=%d next=%d more=%v err=%v", len(pg.Records), pg.Lost, pg.Next.Seq, pg.More, pg.Err)
		for _, r := range pg.Records {
			p.say("%d %s %s %s %q", r.Seq, r.Kind, r.Disposition, r.Rule, r.Message)
		}
	case Restart:
		return p.restart()
	case Stats:
		st := p.engine.Stats()
		c, j := &st.Coalesce, &st.Journal
		p.say("received=%d ignored=%d folded=%d suppressed=%d opened=%d open=%d cleared=%d "+
			"updates=%d held=%d lost=%d phase=%q blind=%v",
			st.Received, st.Ignored, st.Folded, c.Suppressed, c.Opened, c.Open,
			c.Cleared, c.Updates, j.Held, j.Lost, st.Phase, st.Blind)
	default:
		return fmt.Errorf("unknown verb %q", s.Verb)
	}
	return nil
}

// restart goes on with an engine that is made of a snapshot of the one before. Two
// snapshots of the same state are alike, byte for byte.
func (p *player) restart() error {
	snapshot := p.engine.Snapshot(nil)
	e, err := heed.Restore(p.cfg, snapshot)
	if err != nil {
		return fmt.Errorf("restart: %w", err)
	}
	if !bytes.Equal(snapshot, e.Snapshot(nil)) {
		return errors.New("restart: the snapshot of what was restored is another one")
	}
	p.engine = e
	if p.model != nil {
		p.model.restarted(e)
	}
	return nil
}

func (p *player) log(r *event.Log) error {
	p.pos++
	r.Time, r.Pos = p.time(), 7*p.pos
	return p.took(r.Entry())
}

// took notes what became of an entry.
func (p *player) took(e event.Entry) error {
	o := p.engine.Observe(e)
	p.taken++
	p.answer = fmt.Append(p.answer, o.Seq, " ", o.Decision.Disposition, " ", o.Decision.Severity, " ", o.Decision.Rule,
		" ", o.AttentionID)
	if p.loud && o.AttentionID != "" {
		p.said = append(p.said, string(p.answer))
	}
	p.answer = strconv.AppendUint(p.answer, uint64(o.Group.ID), 16)
	p.seal()
	if p.model == nil {
		return nil
	}
	return p.model.took(e, &o)
}

// checkedStorm is the size of storms in which every entry is checked; in larger
// ones only the last is.
const checkedStorm = 20

// storm sends many records.
func (p *player) storm(s *Step) error {
	line := stormLine(s.Text, s.N)
	if line == nil {
		return fmt.Errorf("unknown storm %q: want same, ids, distinct or abc", s.Text)
	}
	loud := p.loud
	p.loud = false
	defer func() { p.loud = loud }()
	updates := 0
	for i := range s.N {
		if err := p.log(&event.Log{Message: line(i), OperationID: s.Op}); err != nil {
			return err
		}
		if s.Yes {
			n, err := p.drain()
			if err != nil {
				return err
			}
			updates += n
		}
		if p.model != nil && s.N <= checkedStorm {
			if err := p.model.check(); err != nil {
				return err
			}
		}
	}
	p.loud = loud
	p.say("%d entries, %d updates", s.N, updates)
	return nil
}

// stormLine returns the function that makes each line of a storm, or nil where there is no such mode.
func stormLine(mode string, n int) func(i int) string {
	rnd := rand.New(rand.NewPCG(uint64(n), uint64(len(mode))))
	switch mode {
	case "same":
		return func(int) string { return "Stuck pump in the hall" }
	case "ids":
		return func(int) string {
			return fmt.Sprintf([...]string{
				"Stuck Pump%d at (%d, 0, 4)", "Lost Thing_Wall%d of Human%d",
				"Worn coat of Human%d, %d of it",
			}[rnd.IntN(3)],
				rnd.IntN(1e6), rnd.IntN(400))
		}
	case "distinct":
		return func(int) string {
			b := []byte("Stuck")
			for range 3 + rnd.IntN(6) {
				b = append(b, ' ')
				for range 5 + rnd.IntN(6) {
					b = append(b, byte('a'+rnd.IntN(26)))
				}
			}
			return string(b)
		}
	case "abc":
		return func(i int) string {
			return [...]string{"Stuck pump 4", "Lost lamp 5", "Stuck pump 6", "Lost lamp 7", "Worn coat 8"}[i%5]
		}
	}
	return nil
}

// drain takes the pending updates and returns how many there were.
func (p *player) drain() (int, error) {
	updates := p.engine.Updates(nil)
	for i := range updates {
		u := &updates[i]
		if p.loud {
			p.say("%s (%s) at %d: %s", u.Kind, u.Reason, u.Seq, describe(&u.Item))
		}
		line, err := json.Marshal(u)
		if err != nil {
			return 0, err
		}
		p.answer = append(p.answer, line...)
		p.seal()
	}
	if p.model == nil {
		return len(updates), nil
	}
	return len(updates), p.model.drained(updates)
}

// item returns the id that a step means.
func (p *player) item(ref string) string {
	if ref == "open" {
		if open := p.engine.Open(nil); len(open) > 0 {
			return open[0].ID
		}
		return "none"
	}
	back, ok := strings.CutPrefix(ref, "^")
	if !ok {
		return ref
	}
	n, _ := strconv.ParseUint(back, 10, 64)
	opened := p.engine.Stats().Coalesce.Opened
	return itemID(opened - min(n, opened))
}

func itemID(n uint64) string { return Epoch + "-" + strconv.FormatUint(n, 10) }

// seq returns the sequence number that a step means.
func (p *player) seq(through int64) uint64 {
	if through >= 0 {
		return uint64(through)
	}
	latest := p.engine.Stats().Received
	return latest - min(latest, uint64(-through))
}

func (p *player) sayAck(res *heed.AckResult) {
	p.say("acknowledged=%v already=%v watermark=%d successor=%q covered=%v current=%s", res.Acknowledged, res.Already,
		res.Watermark, res.Successor, res.Covered, res.Current.ID)
}

func (p *player) sayView(a *heed.Item, ok bool) {
	if !ok {
		p.say("nothing")
		return
	}
	p.say("%s", describe(a))
}

// describe shows an item in a line.
func describe(a *heed.Item) string {
	s := fmt.Sprintf("%s %s %s n=%d groups=%d opened=%d cause=%d latest=%d", a.ID, a.Disposition, a.Severity,
		a.TotalUrgentEntries, a.Groups, a.OpenedAtSequence, a.Cause.Seq, a.LatestSequence)
	if a.CausalOperationID != "" {
		s += " caused-by=" + a.CausalOperationID
	}
	return s + " | " + a.Summary
}
