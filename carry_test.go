package heed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// carried returns an engine with two items that block, one that was acknowledged, one that is advisory, and blindness,
// in the phase "play".
func carried(t testing.TB) (*Engine, Config) {
	cfg := Config{Rules: mustRules(t, testRules), Epoch: "e1"}
	e := mustNew(t, cfg)
	for _, m := range []string{"Loading 1", "Loaded 2", "secret 7", "Broken thing 3", "No more logging"} {
		e.Log(event.Log{Message: m})
		if m == "secret 7" {
			require.True(t, e.Ack("ann", "e1-1", 0).Acknowledged)
		}
	}
	e.Raise(Report{Disposition: event.Advisory, Summary: "a hint"})
	s := e.Stats()
	require.Equal(t, 2, s.Coalesce.OpenBlocking)
	require.Equal(t, 3, s.Coalesce.Open)
	require.True(t, s.Blind)
	require.Equal(t, "play", s.Phase)
	return e, cfg
}

// ofVersion returns a snapshot as another version of signatures would have written it.
func ofVersion(t testing.TB, snapshot []byte, version int) []byte {
	return edited(t, snapshot, func(s *state) { s.Signatures = version })
}

// TestCarryOver restores snapshots whose state means nothing to this program.
func TestCarryOver(t *testing.T) {
	e, cfg := carried(t)
	snapshot := e.Snapshot(nil)
	at := stateAt(snapshot)
	flipped := bytes.Clone(snapshot)
	flipped[at+len(flipped[at:])/2] ^= 4
	other := edited(t, snapshot, func(s *state) { s.Format++ })
	masked := cfg
	masked.Rules = mustRules(t, testRules+"protect: [H2O]\n")
	small := cfg
	small.Groups = signature.GrouperConfig{Columns: 8}
	for name, c := range map[string]struct {
		cfg      Config
		snapshot []byte
		why      string
	}{
		"later signatures":   {cfg, ofVersion(t, snapshot, signature.Version+1), "its ids are of version"},
		"earlier signatures": {cfg, ofVersion(t, snapshot, signature.Version-1), "its ids are of version"},
		"other format":       {cfg, other, "format"},
		"other rules":        {masked, snapshot, "Config.Rules"},
		"smaller bounds":     {small, snapshot, "GrouperConfig.Columns"},
		"changed":            {cfg, flipped, "damaged"},
		"cut":                {cfg, snapshot[:len(snapshot)-9], "torn"},
		"longer":             {cfg, append(bytes.Clone(snapshot), 0), "torn"},
		"cut in the head":    {cfg, snapshot[:at+3], "torn"},
		"nothing else":       {cfg, snapshot[:at], "torn"},
	} {
		t.Run(name, func(t *testing.T) {
			c.cfg.Epoch = ""
			r := testkit.Must(Restore(c.cfg, c.snapshot))
			require.ErrorContains(t, r.CarriedOver(), c.why)
			requireCarried(t, e, r)

			// It is restored whole from then on.
			again := testkit.Must(Restore(c.cfg, r.Snapshot(nil)))
			require.NoError(t, again.CarriedOver())
			require.Equal(t, told(r), told(again))
			require.True(t, again.Ack("ann", "e1-2", 0).Acknowledged)
			require.False(t, again.Ack("ann", "e1-9", 0).Acknowledged)
			require.True(t, again.Ack("ann", "e1-3", 0).Acknowledged)
			_, open := again.Current("ann")
			require.False(t, open)
			again.Log(event.Log{Message: "Broken thing 3"})
			next, _ := again.Current("ann")
			require.Equal(t, "e1-5", next.ID, "an id is given once")
			checked(t, again)

			// What was acknowledged is not carried over.
			last := testkit.Must(Restore(c.cfg, ofVersion(t, again.Snapshot(nil), 99)))
			open1 := last.Open(nil)
			require.Len(t, open1, 1)
			require.Equal(t, "e1-5", open1[0].ID)
		})
	}
}

// requireCarried holds r to what e had to carry over.
func requireCarried(t *testing.T, e, r *Engine) {
	before, open := e.Open(nil), r.Open(nil)
	require.Len(t, open, 2, "only what blocks")
	for i := range open {
		was, is := &before[i], &open[i]
		require.True(t, is.Blocking)
		require.Equal(t, []any{was.ID, was.Severity, was.StateInvalidated}, []any{is.ID, is.Severity, is.StateInvalidated})
		what, _, _ := strings.Cut(was.Summary, " (")
		require.True(t, strings.HasPrefix(is.Summary, what+" ("), "%s\n%s", was.Summary, is.Summary)
		require.Contains(t, is.Sample[0].Message, "from before the restart: "+what)
		require.Greater(t, is.OpenedAtSequence, e.Seq)
	}
	current, _ := r.Current("ann")
	require.Equal(t, before[0].ID, current.ID)
	s := checked(t, r)
	require.True(t, s.Blind)
	require.Equal(t, "t.limit", s.BlindRule)
	require.Equal(t, "play", s.Phase)
	require.Equal(t, e.Seq, s.Carried)
	require.EqualValues(t, 2, s.Received)
	updates := r.Updates(nil)
	require.Len(t, updates, 2)
	for i, u := range updates {
		require.Equal(t, e.Seq+1+uint64(i), u.Seq)
	}
	page := r.Read(Cursor{Epoch: "e1", Seq: e.Seq}, 9, Filter{})
	require.NoError(t, page.Err)
	require.Len(t, page.Records, 2)
	require.Zero(t, page.Lost)
}

// TestCarryOverOfFormat14 restores a snapshot that was written by the last version with signatures of version 2.
func TestCarryOverOfFormat14(t *testing.T) {
	snapshot := testkit.Must(os.ReadFile("testdata/snapshot-14.json"))
	e := testkit.Must(Restore(snapshotConfig(mustRules(t, testRules)), snapshot))
	require.ErrorContains(t, e.CarriedOver(), "format 14, not")
	s := e.Stats()
	require.EqualValues(t, 161+3, e.Latest().Seq, "three items that open again")
	require.Equal(t, "play", s.Phase)
	require.True(t, s.Blind)
	for _, id := range []string{"e1-12", "e1-13", "e1-15"} {
		item, ok := e.Item(id)
		require.True(t, ok, id)
		require.Equal(t, event.Blocking, item.Disposition, id)
	}
	require.EqualValues(t, 165, e.Observe(event.Log{Message: "Broken thing 4"}.Entry()).Seq)
}

// TestCarryOverStays holds that neither a new run of the game nor a consumer that arrives opens the gate.
func TestCarryOverStays(t *testing.T) {
	e, cfg := carried(t)
	r := testkit.Must(Restore(cfg, ofVersion(t, e.Snapshot(nil), 99)))
	r.BeginRun(time.Unix(1, 0))
	r.Attach("ann", time.Unix(2, 0))
	require.Len(t, r.Open(nil), 2)
	require.Equal(t, 2, r.Stats().Coalesce.OpenBlocking)
	require.Equal(t, "play", r.Stats().Phase)
	r.Log(event.Log{Message: "Logging again"})
	require.False(t, r.Stats().Blind, "its rule ends it")
}

// TestCarryOverForm holds the record to its form, which never changes.
func TestCarryOverForm(t *testing.T) {
	e, _ := carried(t)
	line, _, _ := bytes.Cut(e.Snapshot(nil), []byte("\n"))
	require.Regexp(t, "^heed [0-9a-f]{8} {", string(line[:15]))
	require.JSONEq(t, `{
		"epoch": "e1", "sequence": 7, "items": 4, "phase": "play", "blind": ["t.limit"],
		"blocking": [
			{"id": "e1-2", "severity": "error", "summary": "something broke", "stateInvalidated": true},
			{"id": "e1-3", "severity": "error", "summary": "an error was reported"}
		]
	}`, string(line[14:]))

	cfg := Config{Rules: mustRules(t, testRules)}
	stored := testkit.Must(os.ReadFile(filepath.Join("testdata", "carry-over.txt")))
	r := testkit.Must(Restore(cfg, stored))
	requireCarried(t, e, r)
}

// TestCarryOverRefused reads records that no program wrote.
func TestCarryOverRefused(t *testing.T) {
	cfg := Config{Rules: mustRules(t, testRules)}
	item := `{"id":"e1-1","severity":"error","summary":"x"}`
	for name, c := range map[string]struct{ record, want string }{
		"no JSON":         {`{`, "unexpected end"},
		"no epoch":        {`{"sequence":1}`, `the epoch ""`},
		"odd epoch":       {`{"epoch":"a b"}`, "Config.Epoch"},
		"items":           {`{"epoch":"e1","sequence":1,"items":2}`, "2 items"},
		"sequence":        {`{"epoch":"e1","sequence":18446744073709551615,"items":1}`, "18446744073709551615 entries"},
		"id of another":   {`{"epoch":"e2","sequence":9,"items":2,"blocking":[` + item + `]}`, `"e1-1"`},
		"id is no number": {`{"epoch":"e1","sequence":9,"items":2,"blocking":[{"id":"e1-01"}]}`, `"e1-01"`},
		"id beyond":       {`{"epoch":"e1","sequence":9,"items":2,"blocking":[{"id":"e1-3"}]}`, `"e1-3"`},
		"id twice":        {`{"epoch":"e1","sequence":9,"items":2,"blocking":[` + item + `,` + item + `]}`, `"e1-1"`},
		"severity":        {`{"epoch":"e1","sequence":9,"items":2,"blocking":[{"id":"e1-1","severity":"dire"}]}`, "dire"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Restore(cfg, recordLine([]byte(c.record)))
			require.ErrorContains(t, err, "heed: snapshot: ")
			require.ErrorContains(t, err, c.want)
		})
	}
	_, err := Restore(Config{Epoch: "e2"}, recordLine([]byte(`{"epoch":"e1"}`)))
	require.ErrorContains(t, err, `it is of the epoch "e1", and Config.Epoch is "e2"`)
	_, err = Restore(Config{Signatures: -1}, recordLine([]byte(`{"epoch":"e1"}`)))
	require.ErrorContains(t, err, "Config.Signatures is -1")
	_, err = Restore(cfg, append([]byte("heed 00000000 {"), make([]byte, maxCarryOver)...))
	require.ErrorContains(t, err, "carry-over: ")

	r, err := Restore(cfg, recordLine([]byte(`{"epoch":"e1","sequence":9,"items":2,`+
		`"phase":"`+strings.Repeat("p", 999)+`","blind":["gone"],"later":1,"blocking":[{"id":"e1-1","severity":"error","summary":"a\u001b[2Jb\n`+
		strings.Repeat("long ", 9999)+`"}]}`)))
	require.NoError(t, err)
	a, _ := r.Current("")
	require.NotContains(t, a.Summary, "\x1b")
	require.Contains(t, a.Summary, `a\x1b[2Jb`)
	require.Less(t, len(a.Summary), 400)
	require.Less(t, len(r.Stats().Phase), 99)
	require.False(t, r.Stats().Blind, "nothing could end it")
}

// TestCarryOverMany carries more over than may be open: they join the last one, and the gate stays closed.
func TestCarryOverMany(t *testing.T) {
	cfg := Config{Rules: mustRules(t, testRules), Epoch: "e1"}
	cfg.Coalesce.MaxOpen, cfg.Coalesce.MaxRemembered = 700, 1
	e := mustNew(t, cfg)
	for i := range 700 {
		e.Raise(Report{Key: fmt.Sprint(i), Disposition: event.Blocking, Summary: strings.Repeat("<&>\u2028", 99)})
	}
	snapshot := ofVersion(t, e.Snapshot(nil), 99)
	require.Less(t, bytes.IndexByte(snapshot, '\n'), maxCarryOver)
	r := testkit.Must(Restore(cfg, snapshot))
	require.Equal(t, maxHeld, r.Stats().Coalesce.OpenBlocking)
	cfg.Coalesce.MaxOpen = 3
	r = testkit.Must(Restore(cfg, snapshot))
	s := checked(t, r)
	require.Equal(t, 3, s.Coalesce.OpenBlocking)
	require.EqualValues(t, maxHeld, s.Coalesce.Folded)
	require.Equal(t, "e1-701", r.Raise(Report{Disposition: event.Blocking})[:3]+"701", "numbers go on")
}

// FuzzCarryOver feeds records with a right checksum: they are refused, or the engine works, goes on with its numbers
// and is restored whole.
func FuzzCarryOver(f *testing.F) {
	set := testkit.Must(rules.Compile(rules.File{Name: "test.yaml", Data: []byte(testRules)}))
	cfg := snapshotConfig(set)
	cfg.Epoch, cfg.Groups.Columns = "", 16
	for stream := range uint64(3) {
		line, _, _ := bytes.Cut(busy(f, snapshotConfig(set), stream, 60).Snapshot(nil), []byte("\n"))
		f.Add(line[len("heed 01234567 "):])
	}
	f.Add([]byte(`{"epoch":"e","sequence":9007199254740992,"items":9007199254740992,` +
		`"blocking":[{"id":"e-9007199254740992"}]}`))
	f.Add([]byte(`{"epoch":"e","sequence":9,"items":3,"phase":"\u001b","blind":["t.limit","x"],"blocking":[` +
		`{"id":"e-1","severity":"fatal","summary":"\ud800\n"},{"id":"e-3","stateInvalidated":true}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, record []byte) {
		if bytes.IndexByte(record, '\n') >= 0 {
			return
		}
		e, err := Restore(cfg, recordLine(record))
		if err != nil {
			require.Nil(t, e)
			return
		}
		require.Error(t, e.CarriedOver())
		m := &caller{intn: rand.New(rand.NewPCG(1, 2)).IntN}
		for range 40 {
			m.next()(e)
			checked(t, e)
		}
		again, err := Restore(cfg, e.Snapshot(nil))
		if e.Seq > maxSequence {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.NoError(t, again.CarriedOver())
		require.Equal(t, told(e), told(again))
	})
}
