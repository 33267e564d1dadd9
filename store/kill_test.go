package store

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/journal"
)

// childDir is the variable by which the test binary knows that it is the child
// of TestKill, and where to write.
const childDir = "HEED_STORE_KILL_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childDir); dir != "" {
		if err := appendForever(dir, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// killRecord is a record of some 900 bytes.
func killRecord(seq uint64) journal.Record {
	r := record(seq)
	r.Truncated = false // the ring's to say
	r.Message += strings.Repeat("m", 800)
	return r
}

// killConfig makes several segments and many syncs in a short life.
func killConfig(dir string) JournalConfig {
	return JournalConfig{Dir: dir, Epoch: "run-1", SegmentBytes: 256 << 10, MaxBytes: 1 << 20, SyncEntries: 70}
}

// appendForever is the child: it goes on where the last one was killed, and says
// what is durable as soon as it is.
func appendForever(dir string, w io.Writer) error {
	j, err := OpenJournal(killConfig(dir))
	if err != nil {
		return err
	}
	durable := j.DurableUpTo()
	ring, err := journal.New(journal.Config{Epoch: "run-1", Entries: 100, After: j.Stats().Latest})
	if err != nil {
		return err
	}
	for {
		// By one, and by many at once: only a large write is torn.
		seq := ring.Latest()
		for range 1 + seq%2*60 {
			seq++
			r := killRecord(seq)
			ring.Append(&r.Entry, r.Signature, r.Decision)
		}
		if _, err := j.Drain(ring); err != nil {
			return err
		}
		if d := j.DurableUpTo(); d != durable {
			durable = d
			if _, err := fmt.Fprintln(w, d); err != nil {
				return err
			}
		}
	}
}

// kills is the long form of TestKill: go test ./store -run TestKill -store.kills 200 -v.
var kills = flag.Int("store.kills", 0, "kill so many processes that write to the disk of the temporary directory; 0 kills 20, in memory if there is such a file system")

// TestKill kills a process that appends, at random moments, and looks at what is
// left: nothing that it called durable is gone, and nothing torn is read. A kill
// takes nothing that a system call has taken, whatever file system it went to, so
// that one in memory proves the same without waiting for a device; what a loss of
// power takes is TestModel's.
func TestKill(t *testing.T) {
	self, err := os.Executable()
	require.NoError(t, err)
	n, parent := *kills, t.TempDir()
	if n == 0 {
		n = 20
		if dir, err := os.MkdirTemp("/dev/shm", "heed-"); err == nil {
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			parent = dir
		}
	}
	dir := filepath.Join(parent, "journal")
	r := rand.New(rand.NewPCG(1, 2))
	var durable uint64
	var torn int64
	for range n {
		durable = max(durable, killOne(t, self, dir, r.IntN(30), r.IntN(3_000)))

		j, err := OpenJournal(killConfig(dir))
		require.NoError(t, err)
		require.NoError(t, j.Recovery().Err)
		require.Zero(t, j.Recovery().DamagedBytes)
		torn += j.Recovery().TornBytes
		latest := j.Stats().Latest
		require.GreaterOrEqual(t, latest, durable, "what was called durable is there")
		all := readAll(t, j, journal.Cursor{}, 0)
		deleted := uint64(0)
		if len(all.gaps) > 0 {
			require.Len(t, all.gaps, 1)
			require.Equal(t, GapDeleted, all.gaps[0].Cause)
			deleted = all.gaps[0].To
		}
		require.Equal(t, upTo(deleted+1, latest), seqs(all.records))
		for _, rec := range all.records {
			require.Equal(t, killRecord(rec.Seq), rec)
		}
		require.NoError(t, j.Close())
	}
	t.Logf("%d kills: %d records durable, %d torn bytes cut", n, durable, torn)
}

// killOne starts a child, waits until it has called something durable so many
// times, spins a little, and kills it. It returns the last that the child said.
func killOne(t *testing.T, self, dir string, reports, spin int) (durable uint64) {
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	lines := bufio.NewScanner(out)
	for n := 0; lines.Scan(); n++ {
		durable, err = strconv.ParseUint(lines.Text(), 10, 64)
		require.NoError(t, err, "%q", lines.Text())
		if n == reports {
			for range spin {
				_ = record(durable) // some time within a record or two
			}
			require.NoError(t, cmd.Process.Kill())
		}
	}
	require.NoError(t, lines.Err())
	require.Error(t, cmd.Wait(), "it was killed")
	return durable
}
