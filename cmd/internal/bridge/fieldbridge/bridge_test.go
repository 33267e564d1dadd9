package fieldbridge

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/standin"
	"github.com/heedlog/heed/internal/testkit"
)

// TestBridge holds the habits of the bridge of the field: how long it tries, that it takes the first connection, lists
// once, and does not come again.
func TestBridge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		var mu sync.Mutex
		var all []time.Duration
		var mod *standin.Mod // nil: it does not listen
		b := New(Config{Dial: func(context.Context) (io.ReadWriteCloser, error) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, time.Since(start))
			if mod == nil {
				return nil, errors.New("refused")
			}
			ours, theirs := net.Pipe()
			go mod.ServeConn(theirs)
			return ours, nil
		}})
		defer b.Close()
		dialed := func() []time.Duration {
			synctest.Wait()
			mu.Lock()
			defer mu.Unlock()
			return slices.Clone(all)
		}
		require.Error(t, b.Start())
		require.Equal(t, 20*time.Second, time.Since(start))
		dials := dialed()
		require.Len(t, dials, 9+1) // the second attempt has begun
		require.Equal(t, 6300*time.Millisecond, dials[6])
		require.Equal(t, 16300*time.Millisecond, dials[8])
		time.Sleep(10 * time.Minute)
		dials = dialed()
		require.Len(t, dials, 9+13)
		require.Less(t, dials[9+12], time.Minute)
		_, err := b.Call("colony/build", `{}`)
		require.ErrorIs(t, err, ErrNotConnected)

		mod = standin.NewMod(standin.ModConfig{Frozen: true}) // it accepts, and does not answer
		began, before := time.Now(), len(dials)
		require.Error(t, b.Connect())
		require.Equal(t, 15*time.Second, time.Since(began))
		require.Len(t, dialed(), before+1)
		mod = standin.NewMod(standin.ModConfig{})
		require.NoError(t, b.Connect())
		require.Equal(t, []string{"colony/build", "colony/look"}, b.Mirrored())
		testkit.Must(b.Call("colony/build", `{}`))
		mod.Disconnect()
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.False(t, b.Connected())
		require.Empty(t, b.Mirrored())
		require.Len(t, dialed(), before+2)
	})
}
