package proc

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestWriters: who has a file open for writing is known by the file and not by its name; a descendant stays one when
// its parent has ended, and who only reads is no writer.
func TestWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "Player.log")
	prev := filepath.Join(filepath.Dir(path), "Player-prev.log")
	file := testkit.Must(os.Create(path)) // by this process, which does not count
	defer file.Close()                    //nolint:errcheck // nothing was written
	info := testkit.Must(file.Stat())
	writers := func() [2]bool {
		own, other := Writers(info)
		return [2]bool{!own.IsZero(), !other.IsZero()}
	}
	require.Equal(t, [2]bool{}, writers())

	reader := opens(t, "exec 3<'"+path+"'")
	require.Equal(t, [2]bool{}, writers(), "it reads")
	reader()
	for _, how := range []string{">>", "<>"} {
		ended := opens(t, "exec 3"+how+"'"+path+"'")
		require.Equal(t, [2]bool{true, false}, writers(), how)
		require.NoError(t, os.Rename(path, prev))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
		require.Equal(t, [2]bool{true, false}, writers(), "under another name")
		require.True(t, os.SameFile(info, testkit.Must(os.Stat(Written(path)))))
		require.Empty(t, Written(path+"x"))
		require.NoError(t, os.Rename(prev, path))
		ended()
		require.Equal(t, [2]bool{}, writers())
		require.Empty(t, Written(path))
	}
	adoptOrphans()
	before := time.Now()
	first, later := opens(t, "exec 3>>'"+path+"'"), time.Now()
	time.Sleep(3 * clockTick)
	second := opens(t, "exec 3>>'"+path+"'")
	own, _ := Writers(info)
	require.WithinRange(t, own, before.Add(-2*clockTick), later, "the earliest")
	first()
	own, _ = Writers(info)
	require.True(t, own.After(later), "another process")
	second()
	ended := opens(t, "exec 4<&0; (setsid sh -c 'exec 3>>\"$0\"; echo open; read x <&4' '"+path+"' &); read x")
	require.Equal(t, [2]bool{true, false}, writers(), "its parent has ended")
	ended()

	ended = opens(t, "exec 3>>'"+path+"'")
	require.NoError(t, os.Remove(path))
	require.True(t, os.SameFile(info, testkit.Must(os.Stat(Written(path)))), "removed, and open")
	ended()
	path += "2"
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	other := testkit.Must(os.OpenFile(path, os.O_WRONLY, 0))
	defer other.Close() //nolint:errcheck // nothing was written

	// This process is another one to a process that it starts.
	cmd := exec.Command(testkit.Must(os.Executable()), path)
	cmd.Env = helperEnviron("writers")
	require.Equal(t, "false true", string(testkit.Must(cmd.Output())))
}

// opens runs a script of the shell, waits until it has opened what it opens, and returns how to end it.
func opens(t *testing.T, script string) (end func()) {
	t.Helper()
	cmd := exec.Command("sh", "-c", script+"; echo open; read x")
	in := testkit.Must(cmd.StdinPipe())
	out := testkit.Must(cmd.StdoutPipe())
	require.NoError(t, cmd.Start())
	testkit.Must(bufio.NewReader(out).ReadString('\n'))
	return func() {
		_ = in.Close()
		_ = cmd.Wait() // it ends by the end of its input
	}
}
