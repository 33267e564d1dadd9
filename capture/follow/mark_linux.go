package follow

import (
	"os"
	"runtime/debug"
	"strconv"

	"golang.org/x/sys/unix"
)

// mark shows whether a file was emptied since the mark was set, also if it was written again with the same bytes: the
// mark is a changed private copy of the first page, which the system drops when the file is emptied.
type mark struct {
	page  []byte // nil: not set
	value byte
}

// set sets the mark on a file, if its file system can map files.
func (m *mark) set(file *os.File) {
	m.remove()
	page, err := unix.Mmap(int(file.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE)
	if err != nil {
		return
	}
	m.page = page
	m.isChanged(func() {
		m.value = ^m.page[0]
		m.page[0] = m.value
	})
}

// isLost reports whether the file was emptied, and whether that is known.
func (m *mark) isLost() (lost, known bool) {
	return m.page != nil && m.isChanged(func() {}), m.page != nil
}

// isChanged reports whether the page has another value after f. An access to a page of an empty file is a panic.
func (m *mark) isChanged(f func()) (changed bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { changed = recover() != nil || changed }()
	f()
	return m.page[0] != m.value
}

func (m *mark) remove() {
	if m.page != nil {
		_ = unix.Munmap(m.page) // of a mapping that exists
		m.page = nil
	}
}

// created returns when a file was created, "" where that is not known. The inode of a removed file is used again.
func created(file *os.File) string {
	var s unix.Statx_t
	err := unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return "-" + strconv.FormatInt(s.Btime.Sec*1e9+int64(s.Btime.Nsec), 36)
}
