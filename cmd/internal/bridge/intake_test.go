package bridge

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/event"
)

// taken gathers the entries that an intake makes.
type taken []string

func (got *taken) Observe(e event.Entry) heed.Outcome {
	text := strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Level, e.Message, e.OperationID))
	if e.Kind == event.KindOperation {
		text = fmt.Sprintf("%s %s<%s %s %s", e.Status, e.OperationID, e.Parent, e.Source, e.Message)
	}
	*got = append(*got, text)
	return heed.Outcome{}
}

func newTaken() (*intake, *taken) {
	got := new(taken) // nil while nothing came
	return newIntake(NewDedup(), got.Observe, func() time.Time { return time.Unix(1000, 0) }), got
}

func TestChannels(t *testing.T) {
	for _, name := range []string{"rimbridge.log", "system/log", "game/console", "my-logs", "Unity.Log"} {
		require.True(t, isLogChannel(name), name)
	}
	for _, name := range []string{"colony/catalog", "login", "dialog/opened", "logistics"} {
		require.False(t, isLogChannel(name), name)
	}
	require.True(t, isOperationChannel("rimbridge.operation"))
	require.False(t, isOperationChannel("cooperation/x"))
}

func TestTakeLog(t *testing.T) {
	for _, tc := range []struct {
		name   string
		events []string
		want   []string
	}{
		{"an entry in a member", []string{`{"type":"log","logEntry":{"level":"warning","message":"m","operationId":"op"}}`}, []string{"warning m op"}},
		{"names in another case", []string{`{"LogEntry":{"Level":"Error","Message":"m"}}`}, []string{"error m"}},
		{"flat", []string{`{"level":"info","message":"m"}`}, []string{"info m"}},
		{"no level", []string{`{"message":"m"}`}, []string{"unknown m"}},
		{"no text", []string{`{"level":"error"}`, `[]`, `12`, `{"message":7}`, ``}, nil},
		{"a part of an operation", []string{`{"level":"error","message":"m","operationId":"b","parentOperationId":"a"}`}, []string{"none b<a  ", "error m b"}},
		{"a part of nothing", []string{`{"message":"m","parentOperationId":"a"}`}, []string{"unknown m"}},
		{
			"repeats are told by a count",
			[]string{
				`{"message":"m","level":"error","entryId":"e","repeatCount":1}`,
				`{"message":"m","level":"error","entryId":"e","repeatCount":2}`,
				`{"message":"m","level":"error","entryId":"e","repeatCount":5}`,
				`{"message":"m","level":"error","entryId":"e","repeatCount":3}`,
				`{"message":"m","level":"error","entryId":"e","repeatCount":5}`,
			},
			[]string{"error m", "error m", "error m", "error m", "error m"},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in, got := newTaken()
			for _, e := range tc.events {
				in.takeLog(json.RawMessage(e))
			}
			require.Equal(t, taken(tc.want), *got)
		})
	}
	in, got := newTaken()
	in.takeLog(json.RawMessage(`{"message":"m","repeatCount":1000000000000}`))
	require.Len(t, *got, maxCopies)
}

func TestTakeOperation(t *testing.T) {
	in, got := newTaken()
	in.takeOperation(json.RawMessage(`{"type":"operation.failed","operationEvent":{"eventType":"operation.failed","operationId":"o","capabilityId":"save/all","errorMessage":"full"}}`))
	in.takeOperation(json.RawMessage(`{"type":"operation.timed_out","operationId":"p","capabilityId":"t","errorMessage":"late"}`))
	in.takeOperation(json.RawMessage(`{"type":"operation.unheard_of","operationId":"p"}`))
	in.takeOperation(json.RawMessage(`{"type":"operation.failed"}`))
	in.takeOperation(json.RawMessage(`"x"`))
	require.Equal(t, taken([]string{"failed o< save/all full", "timed_out p< t late"}), *got)
}

func TestTakeAttention(t *testing.T) {
	in, got := newTaken()
	const first = `{"attentionId":"a","state":"open","severity":"error","summary":"s","causalOperationId":"o","causalMethod":"t","latestSequence":5,` +
		`"sample":[{"level":"error","message":"one…","latestSequence":5}]}`
	require.Equal(t, "a", in.takeAttention(json.RawMessage(first)))
	require.Equal(t, "a", in.takeAttention(json.RawMessage(first)), "the same again says nothing new")
	require.Equal(t, "a", in.takeAttention(json.RawMessage(`{"attentionId":"a","state":"open","latestSequence":9,`+
		`"sample":[{"level":"error","message":"one","latestSequence":5},{"level":"warning","message":"two","latestSequence":9}]}`)))
	require.Equal(t, "b", in.takeAttention(json.RawMessage(`{"attentionId":"b","state":"open","severity":"fatal","summary":"only words"}`)))
	require.Empty(t, in.takeAttention(json.RawMessage(`{"attentionId":"a","state":"cleared"}`)))
	require.Empty(t, in.takeAttention(json.RawMessage(`null`)))
	require.Equal(t, taken([]string{"none o< t ", "error one o", "warning two", "fatal only words"}), *got)

	in, got = newTaken()
	in.takeAttention(json.RawMessage(`{"state":"open","summary":"s","sample":[{"message":"of no item"}]}`))
	in.takeAttention(json.RawMessage(`{"attentionId":"a","state":"open","summary":"s","sample":[{"message":"one"}]}`))
	in.takeAttention(json.RawMessage(`{"attentionId":"a","state":"open","summary":"s","sample":[{"message":"two"}]}`))
	require.Equal(t, taken([]string{"unknown one"}), *got, "without numbers only the first is new")

	in, got = newTaken()
	in.connected([]string{"colony/ticks"})
	require.False(t, in.hasLog)
	in.connected([]string{"colony/ticks", "colony.log"}) // whose channel tells of the samples
	require.Equal(t, "a", in.takeAttention(json.RawMessage(first)))
	require.Equal(t, taken([]string{"none o< t "}), *got)
}

func FuzzIntake(f *testing.F) {
	f.Add(`{"logEntry":{"message":"m","repeatCount":3}}`)
	f.Add(`{"attentionId":"a","state":"open","sample":[{}]}`)
	f.Fuzz(func(t *testing.T, s string) {
		in, got := newTaken()
		in.takeLog(json.RawMessage(s))
		in.takeOperation(json.RawMessage(s))
		in.takeAttention(json.RawMessage(s))
		require.LessOrEqual(t, len(*got), 3*maxCopies+len(s))
	})
}

// TestModStartedAgain: a mod that was started again gives its ids anew, of entries and of
// attention.
func TestModStartedAgain(t *testing.T) {
	in, got := newTaken()
	in.connected(nil)
	in.takeLog(json.RawMessage(`{"message":"first","level":"error","entryId":"1"}`))
	in.takeAttention(json.RawMessage(`{"attentionId":"1","state":"open","latestSequence":9,"sample":[{"level":"error","message":"a","latestSequence":9}]}`))
	in.connected(nil)
	in.takeLog(json.RawMessage(`{"message":"second","level":"error","entryId":"1"}`))
	in.takeAttention(json.RawMessage(`{"attentionId":"1","state":"open","latestSequence":2,"sample":[{"level":"error","message":"b","latestSequence":2}]}`))
	require.Equal(t, taken([]string{"error first", "error a", "error second", "error b"}), *got)
}

// TestManyIDs holds how many ids are known: the latest.
func TestManyIDs(t *testing.T) {
	in, got := newTaken()
	take := func(i int) { in.takeLog(json.RawMessage(fmt.Sprintf(`{"message":"m %d","entryId":"%d"}`, i, i))) }
	for i := range 4096 {
		take(i)
	}
	take(0)
	require.Len(t, *got, 4096)
	take(4096)
	take(0) // the latest
	require.Len(t, *got, 4097)
	take(1) // the oldest
	require.Len(t, *got, 4098)
}

// TestLongIDs: an id of any length is no reason to keep it.
func TestLongIDs(t *testing.T) {
	in, got := newTaken()
	for _, n := range []int{256, 257} {
		id := strings.Repeat("i", n)
		for range 2 {
			in.takeLog(json.RawMessage(`{"message":"m","level":"error","entryId":"` + id + `"}`))
			require.Equal(t, id, in.takeAttention(json.RawMessage(`{"attentionId":"`+id+`","state":"open"}`)))
		}
	}
	require.Equal(t, taken([]string{"error m", "error m", "error m"}), *got)
	require.Equal(t, 1, in.repeats.Len())
	require.Equal(t, 1, in.items.Len())
}

func TestDedup(t *testing.T) {
	// Each step is a record: "l" from the log, "m" from the mod, "M" from the mod
	// with a level; in upper-case words of want it is taken in.
	for _, tc := range []struct{ name, steps, taken string }{
		{"the log alone", "lll", "+++"},
		{"the mod alone", "mmm", "+++"},
		{"the mod first", "MlMl", "+-+-"},
		{"the log first, no level", "lmlm", "+-+-"},
		{"the log first, a level once", "lMlM", "+++-"},
		{"many of the mod, then the log", "MMMlll", "+++---"},
		{"the log ahead, then behind", "llMMMl", "+++-+-"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, now := NewDedup(), time.Unix(1000, 0)
			var got strings.Builder
			for _, step := range tc.steps {
				now = now.Add(time.Millisecond)
				taken := false
				switch step {
				case 'l':
					taken = d.FromLog("a line \r\nand more", now)
				case 'm', 'M':
					taken = d.FromMod("a line\n  another tail", step == 'M', now)
				}
				if taken {
					got.WriteByte('+')
				} else {
					got.WriteByte('-')
				}
			}
			require.Equal(t, tc.taken, got.String())
		})
	}
}

func TestDedupForgets(t *testing.T) {
	d, now := NewDedup(), time.Unix(1000, 0)
	require.True(t, d.FromMod("old", true, now))
	require.False(t, d.FromLog("old", now.Add(dedupWindow)), "still its twin")
	require.True(t, d.FromMod("again", true, now))
	require.True(t, d.FromLog("again", now.Add(dedupWindow+1)), "another record")

	require.True(t, d.FromMod("pushed out", true, now))
	for i := range dedupTexts {
		require.True(t, d.FromLog(fmt.Sprintf("text %d", i), now))
	}
	require.Equal(t, dedupTexts, d.texts.Len())
	require.True(t, d.FromLog("pushed out", now))
}

// TestDedupCuts holds how much of a text is compared: 160 bytes of its first line.
func TestDedupCuts(t *testing.T) {
	now := time.Unix(1000, 0)
	for n, same := range map[int]bool{160: true, 159: false} {
		d := NewDedup()
		require.True(t, d.FromMod(strings.Repeat("x", n)+"a", false, now))
		require.Equal(t, !same, d.FromLog(strings.Repeat("x", n)+"b", now))
	}
}
