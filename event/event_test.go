package event

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestNames holds String and Parse to each other for every value, and String to
// being total.
func TestNames(t *testing.T) {
	check := func(kind string, names []string, str func(uint8) string, parse func(string) (uint8, bool)) {
		seen := map[string]bool{}
		for i, n := range names {
			require.False(t, seen[n], "%s %q twice", kind, n)
			seen[n] = true
			require.Equal(t, n, str(uint8(i)))
			v, ok := parse(n)
			require.True(t, ok)
			require.Equal(t, uint8(i), v)
		}
		for _, bad := range []string{"", "nonsense", "Error", " error"} {
			_, ok := parse(bad)
			require.False(t, ok, "%s %q", kind, bad)
		}
		require.Equal(t, fmt.Sprintf("%s(200)", kind), str(200))
	}
	check("level", levelNames, func(v uint8) string { return Level(v).String() }, func(s string) (uint8, bool) {
		v,
			ok := Parse[Level](s)
		return uint8(v), ok
	})
	check("severity", severityNames, func(v uint8) string { return Severity(v).String() }, func(s string) (uint8,
		bool,
	) {
		v, ok := Parse[Severity](s)
		return uint8(v), ok
	})
	check("disposition", dispositionNames, func(v uint8) string { return Disposition(v).String() },
		func(s string) (uint8, bool) { v, ok := Parse[Disposition](s); return uint8(v), ok })
	check("kind", kindNames, func(v uint8) string { return Kind(v).String() }, func(s string) (uint8, bool) {
		v,
			ok := Parse[Kind](s)
		return uint8(v), ok
	})
	check("status", statusNames, func(v uint8) string { return Status(v).String() }, func(s string) (uint8,
		bool,
	) {
		v, ok := Parse[Status](s)
		return uint8(v), ok
	})
}

func TestMarshalText(t *testing.T) {
	got, err := json.Marshal([]any{LevelWarning, SeverityFatal, Advisory, KindNotice, StatusTimedOut})
	require.NoError(t, err)
	require.Equal(t, `["warning","fatal","advisory","notice","timed_out"]`, string(got))
	var s Severity
	require.NoError(t, s.UnmarshalText([]byte("fatal")))
	require.Equal(t, SeverityFatal, s)
	require.Error(t, s.UnmarshalText([]byte("Error")))
}

func TestStatusKind(t *testing.T) {
	want := map[Status]Kind{StatusNone: KindLog}
	for s := StatusStarted; s <= StatusTimedOut; s++ {
		want[s] = KindOperation
	}
	for s := StatusPhase; s <= StatusLongEventEnd; s++ {
		want[s] = KindState
	}
	for s := StatusHole; s <= StatusLogFound; s++ {
		want[s] = KindNotice
	}
	for s := StatusRaised; s <= StatusDelivered; s++ {
		want[s] = KindHost
	}
	require.Len(t, want, len(statusNames))
	for s, k := range want {
		require.Equal(t, k, s.Kind(), s)
		require.Equal(t, s >= StatusCompleted && s <= StatusTimedOut, s.Ended(), s)
	}
}

func TestLevelSeverity(t *testing.T) {
	for l, want := range map[Level]Severity{
		LevelUnknown: SeverityInfo, LevelDebug: SeverityInfo, LevelInfo: SeverityInfo,
		LevelWarning: SeverityWarning, LevelError: SeverityError, LevelFatal: SeverityFatal,
	} {
		require.Equal(t, want, l.Severity(), l)
	}
}

func TestEntries(t *testing.T) {
	at := time.Unix(1, 0)
	log := Log{Time: at, Level: LevelError, Source: "s", Message: "m", Stack: "st", OperationID: "o", Pos: 7}
	require.Equal(t, Entry{
		Time: at, Level: LevelError, Source: "s", Message: "m", Stack: "st", OperationID: "o",
		Pos: 7,
	}, log.Entry())
	op := Operation{
		Time: at, ID: "o", Parent: "p", Method: "m", Status: StatusCancelled, Error: "e",
		ByCaller: true, Pos: 7,
	}
	require.Equal(t, Entry{
		Kind: KindOperation, Time: at, Status: StatusCancelled, Source: "m", Message: "e",
		OperationID: "o", Parent: "p", ByCaller: true, Pos: 7,
	}, op.Entry())
	phase := State{Time: at, Status: StatusPhase, Phase: "play", Detail: "d", Pos: 7}
	require.Equal(t, Entry{Kind: KindState, Time: at, Status: StatusPhase, Message: "play", Pos: 7}, phase.Entry())
	stall := State{Status: StatusStall, Phase: "play", Detail: "d"}
	require.Equal(t, Entry{Kind: KindState, Status: StatusStall, Message: "d"}, stall.Entry())
	hole := Notice{Time: at, Status: StatusHole, Detail: "d", Count: 9, Pos: 7}
	require.Equal(t, Entry{Kind: KindNotice, Time: at, Status: StatusHole, Message: "d", Count: 9, Pos: 7}, hole.Entry())
}

func ExampleParse() {
	level, ok := Parse[Level]("warning")
	fmt.Println(level, level.Severity(), ok)
	_, ok = Parse[Level]("loud")
	fmt.Println(ok)
	// Output:
	// warning warning true
	// false
}
