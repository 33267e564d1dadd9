package gabp

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/standin"
)

// TestCharacters: a mod that counts characters waits for more after a request that is not ASCII.
func TestCharacters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ours, theirs := net.Pipe()
		go standin.NewMod(standin.ModConfig{Characters: true}).ServeConn(theirs)
		t.Cleanup(func() { _ = ours.Close() })
		r := bufio.NewReader(ours)
		call := func(tool string) {
			text := fmt.Sprintf(`{"id":"7","method":"tools/call","params":{"name":%q}}`, tool)
			_, err := fmt.Fprintf(ours, "Content-Length: %d\r\n\r\n%s", len(text), text)
			require.NoError(t, err)
		}
		call("colony/build")
		_, err := r.ReadString('{')
		require.NoError(t, err)
		_, _ = r.Discard(r.Buffered()) // the rest of the frame
		call("colony/köln")
		require.NoError(t, ours.SetReadDeadline(time.Now().Add(time.Hour)))
		_, err = r.ReadByte()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded)
	})
}
