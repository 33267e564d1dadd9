package statefile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFileRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), "snapshot")
	_, err := ReadFile(path, "snapshot", 1)
	require.ErrorIs(t, err, fs.ErrNotExist)
	for _, payload := range [][]byte{{}, {0}, []byte("one"), make([]byte, 100_000)} {
		require.NoError(t, os.WriteFile(path+tempSuffix, []byte("left by a kill"), 0o644))
		require.NoError(t, WriteFile(path, "snapshot", 3, payload))
		got, err := ReadFile(path, "snapshot", 3)
		require.NoError(t, err)
		require.Equal(t, payload, got)
		require.NoFileExists(t, path+tempSuffix)
	}
	if runtime.GOOS != "windows" {
		info, err := os.Stat(path)
		require.NoError(t, err)
		require.Equal(t, fs.FileMode(0o600), info.Mode())
	}
}

func TestFileRefuses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, WriteFile(path, "snapshot", 3, []byte("payload")))
	whole, err := os.ReadFile(path)
	require.NoError(t, err)

	huge := slices.Clone(fileHead("snapshot", 3, nil))
	huge[len(fileMagic)+maxKind+4+7] = 0x7f // the length's highest byte
	huge = sealHead(huge)

	for _, c := range []struct {
		name    string
		data    []byte
		kind    string
		version uint32
		want    error
		text    string
	}{
		{"foreign", []byte("PK\x03\x04 and so on, which is long enough to have a header"), "snapshot", 3, ErrForeign, `begin with "heedfile"`},
		{"short and foreign", []byte("PK"), "snapshot", 3, ErrForeign, "begin with"},
		{"other kind", whole, "baseline", 3, ErrForeign, `it is a "snapshot", not a "baseline"`},
		{"newer", whole, "snapshot", 2, ErrVersion, "it is of version 3, this program reads version 2"},
		{"longer", append(slices.Clone(whole), 0), "snapshot", 3, ErrDamaged, "its header says"},
		{"says it is huge", huge, "snapshot", 3, ErrTooLarge, "the most is"},
		{"empty", nil, "snapshot", 3, ErrDamaged, "0 bytes"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.NoError(t, os.WriteFile(path, c.data, 0o600))
			_, err := ReadFile(path, c.kind, c.version)
			require.ErrorIs(t, err, c.want)
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, path)
		})
	}

	require.ErrorContains(t, WriteFile(path, "", 1, nil), "kind")
	require.ErrorContains(t, WriteFile(path, "a kind that is too long", 1, nil), "kind")
	require.ErrorIs(t, WriteFile(path, "x", 1, make([]byte, MaxFile+1)), ErrTooLarge)
}

// sealHead gives a changed header the checksum that it should have.
func sealHead(head []byte) []byte {
	return append(head[:fileHeader-4:fileHeader-4], checksum(head[:fileHeader-4])...)
}

// TestFileTornOrFlipped cuts a file at every byte, and flips each of its bits.
func TestFileTornOrFlipped(t *testing.T) {
	disk := newFaultFS()
	require.NoError(t, writeFile(disk, "d/f", "snapshot", 1, []byte("some payload")))
	file := disk.files["d/f"]
	whole := slices.Clone(file.data)
	for n := range whole {
		file.data = whole[:n]
		_, err := readFile(disk, "d/f", "snapshot", 1)
		require.ErrorIs(t, err, ErrDamaged, "cut at %d", n)
	}
	for bit := range len(whole) * 8 {
		file.data = slices.Clone(whole)
		file.data[bit/8] ^= 1 << (bit % 8)
		_, err := readFile(disk, "d/f", "snapshot", 1)
		if bit/8 < len(fileMagic) {
			require.ErrorIs(t, err, ErrForeign, "bit %d", bit)
		} else {
			require.ErrorIs(t, err, ErrDamaged, "bit %d", bit)
		}
	}
}

// TestFileIsOldOrNew lets each step of a WriteFile fail, be killed, or be the
// last before the power goes, with a write torn at every byte.
func TestFileIsOldOrNew(t *testing.T) {
	old, replacement := []byte("the old payload"), []byte("the new payload, which is longer")
	for step := 0; ; step++ {
		done := false
		for torn := range fileHeader + len(replacement) {
			for _, why := range []error{errKilled, os.ErrPermission} {
				for _, power := range []bool{false, true} {
					disk := newFaultFS()
					require.NoError(t, writeFile(disk, "d/f", "x", 1, old))
					at := 0
					disk.fault = func(_ string, n int) (int, error) {
						if at++; at-1 == step {
							return min(n, torn), why
						}
						return n, nil
					}
					err := writeFile(disk, "d/f", "x", 1, replacement)
					done = err == nil && at <= step
					disk.restart(power, func(n int) int { return min(n, torn) })
					got, readErr := readFile(disk, "d/f", "x", 1)
					require.NoError(t, readErr, "step %d, %d bytes", step, torn)
					if err == nil {
						require.Equal(t, replacement, got)
					} else {
						require.Contains(t, [][]byte{old, replacement}, got)
					}
					require.NoError(t, writeFile(disk, "d/f", "x", 1, replacement), "what is left behind is in nobody's way")
				}
			}
		}
		if done {
			require.Greater(t, step, 5)
			return
		}
	}
}

func FuzzReadFile(f *testing.F) {
	f.Add(fileHead("x", 1, nil))
	f.Add(append(fileHead("x", 1, []byte("payload")), "payload"...))
	f.Add([]byte("heedfile"))
	f.Fuzz(func(t *testing.T, data []byte) {
		disk := newFaultFS()
		disk.files["f"] = &faultFile{data: data}
		payload, err := readFile(disk, "f", "x", 1)
		if err == nil {
			require.Equal(t, data, append(fileHead("x", 1, payload), payload...))
		}
		if len(data) >= fileHeader { // and with a header that is right
			head := sealHead(append([]byte(fileMagic), data[len(fileMagic):fileHeader]...))
			disk.files["f"].data = append(head, data[fileHeader:]...)
			payload, err = readFile(disk, "f", "x", 1)
			require.True(t, err != nil || len(payload) <= len(data))
		}
	})
}
