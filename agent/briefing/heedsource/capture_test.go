package heedsource

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/agent/briefing"
)

func TestCaptureAsLedger(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "..", "testdata", "captures", "cascade-1.6.log"))
	require.NoError(t, err)
	ledger, err := ReadCapture(t.Context(), "logs/cascade 1.6.log", bytes.NewReader(data), nil)
	require.NoError(t, err)
	found, err := ledger.Entries(t.Context(), &briefing.Input{}, &briefing.LedgerQuery{
		MaxEntries: 2, Filters: map[string]string{"disposition": "blocking"},
	})
	require.NoError(t, err)
	require.Equal(t, `[ledger logs_cascade_1.6.log/387] error at line 635: blocking, rule save.post_load, `+
		`at least 30 times since entry 358
> Could not do PostLoadInit on RimWorld.Pawn_WorkSettings: System.ArgumentOutOfRangeException: Index was out of `+
		`range. Must be non-negative and less than the size of the collection.
> Parameter name: index
> at System.Collections.Generic.List`+"`"+`1[T].set_Item (System.Int32 index, T value)
> System.Collections.Generic.List`+"`"+`1[[Verse.Thing, Assembly-CSharp, Version=1.6.9402.20115, Culture=neutral, `+
		`PublicKeyToken=null]]..ctor(IEnumerable`+"`"+`1 collection)
> at RimWorld.Pawn_WorkSettings.ExposeData ()
> at Verse.PostLoadIniter.DoAllPostLoadInits ()
[ledger logs_cascade_1.6.log/388] error at line 638: blocking, rule exception.unhandled
> NullReferenceException: Object reference not set to an instance of an object
> at Riverboats.FerryRenderer.OnGUI ()
`, shown(found.Fragments))

	done, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = ReadCapture(done, "x.log", strings.NewReader("one\ntwo\n"), nil)
	require.ErrorIs(t, err, context.Canceled)
}
