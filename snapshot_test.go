package heed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/classify"
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// snapshotConfig is small, so that every bound is met.
func snapshotConfig(set *rules.Set) Config {
	return Config{
		Rules: set, Epoch: "e1", Signatures: 40, Groups: signature.GrouperConfig{Signatures: 1000, Columns: 64},
		Journal: journal.Config{Entries: 50, Bytes: 32 << 10, Firsts: 10, Pinned: 20},
		Coalesce: coalesce.Config{
			MaxOpen: 3, MaxRemembered: 3, MaxGroups: 4, MaxOperations: 3, MaxConsumers: 3,
			AmbientQuiet: coalesce.Window{Entries: 5},
			AdvisoryTTL:  coalesce.Window{Entries: 19}, AckMemory: coalesce.Window{Entries: 30},
		},
	}
}

// call is something that a host does to an engine. It returns all that the host
// is told.
type call func(e *Engine) any

// caller makes calls at random.
type caller struct {
	intn func(n int) int
	now  time.Time
}

func (m *caller) one(of ...string) string { return of[m.intn(len(of))] }

func (m *caller) next() call {
	now := m.now
	id := fmt.Sprintf("e1-%d", 1+m.intn(12))
	viewer := m.one("", "ann", "bob", "eve")
	op := m.one("", "a", "b", "c", "d")
	switch m.intn(14) {
	case 0, 1, 2, 3, 4:
		l := event.Log{
			Time: now, Level: event.Level(m.intn(6)), Source: m.one("", "x"), OperationID: m.one("", op),
			Pos:     uint64(m.intn(99)),
			Message: fmt.Sprintf(m.one("Loading %d", "Loaded %d", "No more logging", "Logging again", "Broken thing %d", "Broken at the place of Name_%d for that", "Odd Thing_%d in the place of that", "secret %d"), m.intn(20)),
		}
		return func(e *Engine) any { return e.Observe(l.Entry()) }
	case 5, 6:
		o := event.Operation{
			Time: now, ID: op, Parent: m.one("", "a", "b"), Method: m.one("", "m"),
			Status: event.StatusStarted + event.Status(m.intn(5)), ByCaller: m.intn(2) == 0,
		}
		return func(e *Engine) any { return e.Observe(o.Entry()) }
	case 7:
		s := event.State{Time: now, Phase: m.one("", "play", "menu"), Status: event.StatusPhase + event.Status(m.intn(8))}
		n := event.Notice{Time: now, Status: event.StatusHole + event.Status(m.intn(4))}
		return func(e *Engine) any { return []any{e.Observe(s.Entry()), e.Observe(n.Entry())} }
	case 8:
		if !now.IsZero() {
			m.now = now.Add(time.Duration(m.intn(200)-5) * time.Second)
		}
		expect := m.intn(3) == 0
		return func(e *Engine) any {
			e.Advance(now)
			if expect {
				e.Expect(now, now.Add(time.Minute))
			}
			return nil
		}
	case 9:
		upTo := uint64(m.intn(3) * m.intn(50))
		return func(e *Engine) any { return e.Ack(viewer, id, upTo) }
	case 10:
		return func(e *Engine) any { a, ok := e.Current(viewer); return []any{a, ok, e.Verdict("a"), e.Verdict("b")} }
	case 11:
		return func(e *Engine) any { return e.Updates(nil) }
	case 12:
		r := Report{Time: now, Key: m.one("", "disk"), Disposition: event.Disposition(m.intn(3)), Summary: m.one("",
			"it is full"), Message: "disk", OperationID: op}
		return func(e *Engine) any { return e.Raise(r) }
	default:
		leaves, clears := m.intn(2) == 0, m.intn(3) == 0
		return func(e *Engine) any {
			if leaves {
				e.Detach(viewer)
			}
			return []any{clears && e.Clear(id), e.Delivered("bob", id, 20), e.Attach(viewer, now)}
		}
	}
}

// told returns all that an engine says of itself but for caches and journal.
func told(e *Engine) []any {
	s := e.Stats()
	c := s.Classify
	s.Classify = classify.Stats{Entries: c.Entries, Holes: c.Holes, Groups: c.Groups}
	s.Journal = journal.Stats{Latest: s.Journal.Latest}
	return []any{s, e.Open(nil), e.Heartbeat}
}

// busy returns an engine after n calls of a stream.
func busy(t testing.TB, cfg Config, stream uint64, n int) *Engine {
	m := &caller{intn: rand.New(rand.NewPCG(stream, 1)).IntN, now: time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)}
	e := mustNew(t, cfg)
	for range n {
		m.next()(e)
	}
	return e
}

// stateAt returns where the state begins in a snapshot.
func stateAt(snapshot []byte) int { return bytes.IndexByte(snapshot, '\n') + 1 }

// sealed returns a snapshot with the line of another state.
func sealed(snapshot, record []byte) []byte {
	return append(bytes.Clone(snapshot[:stateAt(snapshot)]), recordLine(record)...)
}

// record returns the JSON of the state of a snapshot.
func record(t testing.TB, snapshot []byte) []byte {
	record, rest, err := readRecord(snapshot[stateAt(snapshot):], maxState)
	require.NoError(t, err)
	require.Empty(t, rest)
	return record
}

// edited returns a snapshot with another state.
func edited(t testing.TB, snapshot []byte, change func(*state)) []byte {
	var s state
	require.NoError(t, json.Unmarshal(record(t, snapshot), &s))
	change(&s)
	state := testkit.Must(json.Marshal(&s))
	return sealed(snapshot, state)
}

// TestRestoreTorn cuts a snapshot and changes it, at every byte of the carry-over and at many of the state: damage to the
// state leaves the carry-over.
func TestRestoreTorn(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	snapshot := busy(t, cfg, 1, 200).Snapshot(nil)
	at := stateAt(snapshot)
	for n := range snapshot {
		if n > at+100 && n%1009 != 0 {
			continue
		}
		changed := bytes.Clone(snapshot)
		changed[n] ^= 1 << (n % 8)
		for _, s := range [][]byte{snapshot[:n], changed} {
			e, err := Restore(cfg, s)
			if n < at {
				require.Nil(t, e)
				require.ErrorContains(t, err, "heed: snapshot: carry-over: it is missing, torn or damaged", "at %d", n)
				continue
			}
			require.NoError(t, err)
			require.Error(t, e.CarriedOver(), "at %d", n)
		}
	}
}

func TestRestoreRefused(t *testing.T) {
	set := mustRules(t, testRules)
	cfg := snapshotConfig(set)
	change := func(f func(*Config)) Config {
		c := cfg
		f(&c)
		return c
	}
	e := busy(t, cfg, 1, 200)
	snapshot := e.Snapshot(nil)
	with := func(f func(*Engine)) []byte {
		e := testkit.Must(Restore(cfg, snapshot))
		f(e)
		return e.Snapshot(nil)
	}
	other := edited(t, snapshot, func(s *state) { s.Format++ })
	protecting := mustRules(t, strings.Replace(testRules, "version: 1", "version: 1\nprotect: [H2O]", 1))
	typed := bytes.Replace(record(t, snapshot), []byte(`"Carried":0`), []byte(`"Carried":"0"`), 1)
	for name, c := range map[string]struct {
		cfg      Config
		snapshot []byte
		want     string
		carried  bool
	}{
		"foreign":  {cfg, []byte("{\"epoch\": 1}"), "carry-over: it is missing", false},
		"empty":    {cfg, nil, "carry-over: it is missing", false},
		"format":   {cfg, other, fmt.Sprintf("format %d, not %d", snapshotFormat+1, snapshotFormat), true},
		"extra":    {cfg, append(bytes.Clone(snapshot), '\n'), "torn, damaged or too large", true},
		"typed":    {cfg, sealed(snapshot, typed), "cannot be read", true},
		"null":     {cfg, edited(t, snapshot, func(s *state) { s.Classify = nil }), "is not possible after", true},
		"huge":     {cfg, edited(t, snapshot, func(s *state) { s.Engine.Seq = 1 << 60 }), "is not possible after", true},
		"deep":     {cfg, sealed(snapshot, bytes.Repeat([]byte("["), 5<<20)), "format 0", true},
		"epoch":    {change(func(c *Config) { c.Epoch = "e2" }), snapshot, `epoch "e1", and Config.Epoch is "e2"`, false},
		"masking":  {change(func(c *Config) { c.Rules = protecting }), snapshot, "Config.Rules are by", true},
		"groups":   {change(func(c *Config) { c.Groups.Columns = 8 }), snapshot, "GrouperConfig.Columns 64", true},
		"coalesce": {change(func(c *Config) { c.Coalesce.MaxOpen = 2 }), snapshot, "MaxOpen 3; 2 is too small for it", true},
		"journal":  {change(func(c *Config) { c.Journal.Entries = -1 }), snapshot, "Config.Journal.Entries is -1", false},
		"config":   {change(func(c *Config) { c.Coalesce.MaxOpen = -1 }), snapshot, "Config.Coalesce.MaxOpen is -1", false},
		"rules":    {change(func(c *Config) { c.Signatures = -1 }), snapshot, "Config.Signatures is -1", false},
		"sequence": {cfg, with(func(e *Engine) { e.Seq++ }), "it does not add up", true},
		"kinds":    {cfg, with(func(e *Engine) { e.ByKind[0]++ }), "it does not add up", true},
	} {
		t.Run(name, func(t *testing.T) {
			e, err := Restore(c.cfg, c.snapshot)
			if c.carried {
				require.NoError(t, err)
				err = e.CarriedOver()
			} else {
				require.Nil(t, e)
			}
			require.ErrorContains(t, err, "heed: snapshot")
			require.ErrorContains(t, err, c.want)
		})
	}
	r := testkit.Must(Restore(change(func(c *Config) { c.Epoch = "" }), snapshot))
	require.Equal(t, snapshot, r.Snapshot(nil), "the epoch goes on")
}

// TestRestoreCursors reads on, after a restart, with a cursor of before.
func TestRestoreCursors(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	e := mustNew(t, cfg)
	for range 10 {
		e.Log(event.Log{Message: "Odd 1"})
	}
	cursor := e.Read(Cursor{}, 4, Filter{}).Next
	id, _ := e.Current("")
	e = testkit.Must(Restore(cfg, e.Snapshot(nil)))
	require.EqualValues(t, 11, e.Observe(event.Log{Message: "Broken"}.Entry()).Seq)
	held, lost, err := e.Since(cursor)
	require.NoError(t, err)
	require.Equal(t, []uint64{1, 6}, []uint64{held, lost})
	page := e.Read(cursor, 10, Filter{})
	require.NoError(t, page.Err)
	require.EqualValues(t, 6, page.Lost)
	require.EqualValues(t, 11, page.Records[0].Seq)
	require.True(t, e.Ack("", id.ID, 0).Acknowledged, "old ids are known")
	next, ok := e.Item("e1-2")
	require.True(t, ok, "and numbers go on")
	require.EqualValues(t, 11, next.OpenedAtSequence)
}

// TestSnapshotFormat restores a stored snapshot, which an update replaces only if that fails. Then a State reads
// otherwise than before: snapshotFormat needs another number, so that old snapshots are refused by it, and this test one
// run with -update.
func TestSnapshotFormat(t *testing.T) {
	const file = "testdata/snapshot.json"
	cfg := snapshotConfig(mustRules(t, testRules))
	stored := testkit.Must(os.ReadFile(file))
	e := testkit.Must(Restore(cfg, stored))
	again := string(e.Snapshot(nil))
	if testkit.Updating() && (e.CarriedOver() != nil || again != string(stored)) {
		testkit.Golden(t, file, string(busy(t, cfg, 1, 200).Snapshot(nil)))
		return
	}
	require.NoError(t, e.CarriedOver(), "format %d", snapshotFormat)
	require.Equal(t, string(stored), again, "format %d", snapshotFormat)
}

// TestSnapshotOfOddNames takes a snapshot of names that are no UTF-8: they are found again.
func TestSnapshotOfOddNames(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	a := mustNew(t, cfg)
	const odd = "a\xff\xfe\xe4b"
	now := time.Unix(1<<40, 0).UTC() // in the year 36812
	a.Observe(event.State{Time: now, Phase: odd, Status: event.StatusPhase}.Entry())
	a.Observe(event.Operation{Time: now, ID: odd, Method: odd, Status: event.StatusStarted}.Entry())
	a.Log(event.Log{Time: now, Level: event.LevelError, Source: odd, OperationID: odd, Message: "Broken \xff"})
	a.Raise(Report{Key: odd, Disposition: event.Blocking, Summary: odd, OperationID: odd})
	a.Attach(odd, now)
	a.Expect(now, now.Add(time.Minute))
	a.Current(odd)
	b := testkit.Must(Restore(cfg, a.Snapshot(nil)))
	require.NoError(t, b.CarriedOver())
	for _, e := range []*Engine{a, b} {
		e.Observe(event.Operation{ID: odd, Status: event.StatusCompleted}.Entry())
		e.Detach(odd)
	}
	require.Equal(t, told(a), told(b))
	require.Equal(t, a.Verdict(odd), b.Verdict(odd))
	require.True(t, b.Verdict(odd).Status.Ended())
	require.Equal(t, a.Ack(odd, "e1-1", 0), b.Ack(odd, "e1-1", 0))
}

// TestRestoreIsBounded restores states of many small objects: they take no more memory than their size allows.
func TestRestoreIsBounded(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	line := busy(t, cfg, 1, 10).Snapshot(nil)
	for _, element := range []string{
		"{},", `{"Number":1},`, `{"Counters":{"Rows":[{},{},{},{}]}},`, `{"Covers":[{"Number":1}]},`, "[],", "0,",
		`{"Counters":{"Rows":[0,0,0,0,0,0,0,0,0]}},`, `{"Another":[0,0,0,0,0,0,0,0,0]},`, "null,",
		`{"Root":1,"CauseBy":1,"Counters":{"Rows":[{"FirstBy":1,"Worst":{"Named":1},"Raised":{"Named":1}}]}},`,
	} {
		const size = 1 << 20
		list := strings.Repeat(element, size/len(element))
		src := sealed(line, fmt.Appendf(nil, `{"Format":%d,"Coalesce":{"Items":[%s]}}`, snapshotFormat, list[:len(list)-1]))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		e, err := Restore(cfg, src)
		runtime.ReadMemStats(&after)
		require.NoError(t, err)
		require.Error(t, e.CarriedOver())
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(100*size), element)
	}
}

func TestSnapshotKnowsEveryField(t *testing.T) {
	e := busy(t, snapshotConfig(mustRules(t, testRules)), 2, 200)
	e.Heartbeat.By[0] = 1
	testkit.Fields(t, e, func() []byte { return e.Snapshot(nil) },
		// Of a room's own snapshot, or of none.
		"-Engine.mu", "-Engine.snapshots", "Engine.snapshotSize", "-Engine.classifier",
		"-Engine.coalescer", "Engine.journal",
		// Set by Config, and made anew with each entry.
		"-Engine.setup", "Engine.entry", "-Engine.result", "Engine.input", "Engine.retention",
		"Engine.merges", "Engine.suspects", "Engine.accused",
		// Of this run only.
		"-Engine.carriedOver",
		// Of the Config, for rules that come later.
		"-Engine.ruling",
	)
}

// TestSnapshotAppends also holds that snapshots at once do not disturb each other.
func TestSnapshotAppends(t *testing.T) {
	e := busy(t, snapshotConfig(mustRules(t, testRules)), 2, 200)
	want := e.Snapshot(nil)
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() { assert.Equal(t, "head"+string(want), string(e.Snapshot([]byte("head")))) })
	}
	all.Wait()
}

// TestRestoreDamaged replaces numbers of a state: the engine works, with the state or with the carry-over.
func TestRestoreDamaged(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	number := regexp.MustCompile(`\b[0-9]+\b`)
	values := []string{"0", "1", "2", "3", "11", "65", "1000", "2305843009213693952", "18446744073709551615", "-1"}
	works := 0
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 5))
		snapshot := busy(t, cfg, seed%10, 150).Snapshot(nil)
		state := record(t, snapshot)
		at := number.FindAllIndex(state, -1)
		n := at[rng.IntN(len(at))]
		changed := slices.Concat(state[:n[0]], []byte(values[rng.IntN(len(values))]), state[n[1]:])
		e := testkit.Must(Restore(cfg, sealed(snapshot, changed)))
		if e.CarriedOver() == nil {
			works++
		}
		m := &caller{intn: rng.IntN, now: time.Date(2030, 1, 1, 0, 1, 0, 0, time.UTC)}
		for range 60 {
			m.next()(e)
			checked(t, e)
		}
		e.Snapshot(nil)
	}
	require.Greater(t, works, 8)
}

// FuzzRestore feeds any bytes as a state to Restore, and valid ones in which bytes were changed and the checksum set
// right: the engine works, with the state or with the carry-over.
func FuzzRestore(f *testing.F) {
	set := testkit.Must(rules.Compile(rules.File{Name: "test.yaml", Data: []byte(testRules)}))
	cfg := snapshotConfig(set)
	cfg.Groups.Columns = 16
	line := recordLine([]byte(`{"epoch":"e1","sequence":9,"items":3,"blocking":[{"id":"e1-2","summary":"x"}]}`))
	for stream := range uint64(3) {
		f.Add(record(f, busy(f, cfg, stream, 40).Snapshot(nil)), uint16(50*stream), byte(stream), uint16(9), byte(0), true)
	}
	f.Add([]byte{}, uint16(0), byte(0), uint16(0), byte(0), false)
	f.Add([]byte(`{"Format":12,"Coalesce":{"Items":[{},{}]}}`), uint16(8), byte(0), uint16(0), byte(0), true)
	f.Fuzz(func(t *testing.T, src []byte, at1 uint16, flip1 byte, at2 uint16, flip2 byte, fix bool) {
		if len(src) > 0 {
			src[int(at1)%len(src)] ^= flip1
			src[int(at2)%len(src)] ^= flip2
		}
		if fix {
			src = recordLine(src)
		}
		e := testkit.Must(Restore(cfg, append(bytes.Clone(line), src...)))
		if e.CarriedOver() != nil {
			require.Len(t, e.Open(nil), 1)
		}
		m := &caller{intn: rand.New(rand.NewPCG(uint64(at1), uint64(at2))).IntN, now: time.Date(2030, 1, 1, 0, 0, 0, 0,
			time.UTC)}
		for range 60 {
			m.next()(e)
			checked(t, e)
		}
		again := testkit.Must(Restore(cfg, e.Snapshot(nil)))
		if again.CarriedOver() == nil { // odd numbers may grow beyond their bounds
			require.Equal(t, told(e), told(again))
		}
	})
}

// BenchmarkSnapshot measures an engine with the default Config, all tables full:
// 96 items of 128 groups, 1,024 operations, 65,536 signatures, their columns.
func BenchmarkSnapshot(b *testing.B) {
	cfg := Config{Rules: mustRules(b, testRules)}
	e := mustNew(b, cfg)
	for i := range 96 {
		op := fmt.Sprintf("operation-%d", i)
		for g := range 128 {
			e.Log(event.Log{
				Level: event.LevelError, OperationID: op, Stack: "  at Press" + letters(i) + ".Turn" + letters(g) + " ()",
				Message: "Broken by word" + letters(g) + letters(i) + "error" + strings.Repeat(" text of an error", 16),
			})
		}
		if i < 64 {
			e.Ack("", fmt.Sprintf("0-%d", i+1), e.Stats().Received)
		}
	}
	for i := range 1 << 16 {
		e.Log(event.Log{Message: fmt.Sprintf("could not open the %s Name_%d of that thing for %s now", letters(i%5000),
			i, letters(i))})
	}
	for i := range 2000 {
		e.Observe(event.Operation{ID: fmt.Sprint("another", i), Status: event.StatusStarted}.Entry())
	}
	snapshot := e.Snapshot(nil)
	s := e.Stats()
	require.Equal(b, []int{32, 64, 1024, 65536}, []int{
		s.Coalesce.Open, s.Coalesce.Remembered,
		s.Coalesce.Operations, s.Classify.Groups.Signatures,
	})
	b.Run("snapshot", func(b *testing.B) {
		b.SetBytes(int64(len(snapshot)))
		b.ReportAllocs()
		for b.Loop() {
			snapshot = e.Snapshot(snapshot[:0])
		}
	})
	// The part under the lock, for which all who log may have to wait.
	b.Run("copy", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			e.copyState()
		}
	})
	b.Run("restore", func(b *testing.B) {
		b.SetBytes(int64(len(snapshot)))
		b.ReportAllocs()
		for b.Loop() {
			r := testkit.Must(Restore(cfg, snapshot))
			require.Equal(b, e.Seq, r.Seq)
		}
	})
}

// letters returns a word for a number.
func letters(i int) string {
	word := []byte("word")
	for ; i > 0; i /= 26 {
		word = append(word, 'a'+byte(i%26))
	}
	slices.Reverse(word[4:])
	return string(word)
}
