//go:build linux && !purego

package signature

import (
	"os"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// TestPlanesAtEdges reads texts on both edges of a page between two that nobody may
// read, which would end the process.
func TestPlanesAtEdges(t *testing.T) {
	if !useAVX2 {
		t.Skip("no AVX2")
	}
	size := os.Getpagesize()
	pages, err := syscall.Mmap(-1, 0, 3*size, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	require.NoError(t, err)
	defer func() { require.NoError(t, syscall.Munmap(pages)) }()
	page := pages[size : 2*size]
	for i := range page {
		page[i] = "Acme.Press42 (\"x\"): é\t中 a=b 'c"[i%32]
	}
	require.NoError(t, syscall.Mprotect(pages[:size], syscall.PROT_NONE))
	require.NoError(t, syscall.Mprotect(pages[2*size:], syscall.PROT_NONE))
	for n := 1; n <= 64; n++ {
		checkPlanes(t, unsafe.String(&page[0], n))
		for back := n; back < 130; back++ {
			checkPlanes(t, unsafe.String(&page[size-back], n))
		}
	}
}
