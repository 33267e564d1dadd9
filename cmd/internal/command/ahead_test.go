package command

import (
	"bytes"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// scattered gives its data in pieces of random sizes.
type scattered struct {
	data bytes.Reader
	rnd  *rand.Rand
}

func (s *scattered) Read(b []byte) (int, error) {
	return s.data.Read(b[:min(len(b), 1+s.rnd.IntN(5000))])
}

// TestOverlapChangesNothing replays each capture with the reading beside the engine
// and, on one processor, in turns with it, in random pieces: what is printed is the
// same to the byte.
func TestOverlapChangesNothing(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	referenceAndOwn(t, func(t *testing.T, path string) {
		data := testkit.Must(os.ReadFile(path))
		replay := func(procs int, seed uint64) string {
			runtime.GOMAXPROCS(procs)
			in := &scattered{rnd: rand.New(rand.NewPCG(seed, 0))}
			in.data.Reset(data)
			var stdout, stderr bytes.Buffer
			require.Equal(t, exitOK, run(t.Context(), []string{"--format", "json", "--top", "0", "-"}, in, &stdout, &stderr),
				stderr.String())
			return stdout.String()
		}
		out := replay(1, 1)
		require.True(t, out == replay(2, 2), "two replays differ")
		requireInert(t, out)
	})
}
