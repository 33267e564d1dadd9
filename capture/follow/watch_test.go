package follow

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestWatchEnds: after a watch has ended by itself another begins.
func TestWatchEnds(t *testing.T) {
	bubble(t, func(t *testing.T, dir string) {
		f := testkit.Must(New(Config{Path: filepath.Join(dir, "Player.log")}))
		fl := &following{Follower: f, t: t, path: f.cfg.Path}
		var watches []chan struct{}
		f.watch = func(string) (<-chan struct{}, func(), error) {
			watches = append(watches, make(chan struct{}, 1))
			return watches[len(watches)-1], func() {}, nil
		}
		fl.run()
		synctest.Wait()
		require.Len(t, watches, 1)
		close(watches[0])
		after(time.Second)
		require.Len(t, watches, 2)
		require.True(t, fl.Status().Notified)
		fl.write("one\n")
		got, _ := fl.synced()
		require.Equal(t, []string{"one"}, got)
		require.NoError(t, fl.stop())
	})
}

// TestFromEndUnreadable: what could not be seen at the start is not read from its beginning when it can; what is known
// to be another file is.
func TestFromEndUnreadable(t *testing.T) {
	const unreadable = "/proc/self/mem" // at its beginning, which is never mapped
	for _, c := range []struct {
		name, link, err string
		want            []string
	}{
		{"not seen", "Player.log", "", []string{"new"}}, // a link to itself
		{"not readable", unreadable, "read ", []string{"of a run before", "new"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if info, err := os.Stat(unreadable); c.link == unreadable && (err != nil || !info.Mode().IsRegular()) {
				t.Skip("no regular file here opens and cannot be read")
			}
			bubble(t, func(t *testing.T, dir string) {
				path := filepath.Join(dir, "Player.log")
				require.NoError(t, os.Symlink(c.link, path))
				fl := start(t, dir, func(c *Config) { c.FromEnd = true })
				require.ErrorContains(t, fl.Sync(t.Context()), c.err)
				require.NoError(t, os.Remove(path))
				fl.write("of a run before\n")
				after(10 * time.Second)
				fl.write("new\n")
				got, _ := fl.synced()
				require.Equal(t, c.want, got)
				require.NoError(t, fl.stop())
			})
		})
	}
}
