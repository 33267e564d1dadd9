package follow

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// created returns when a file was created, "" where that is not known. The inode of a removed file is used again.
func created(file *os.File) string {
	var s unix.Statx_t
	err := unix.Statx(int(file.Fd()), "", unix.AT_EMPTY_PATH, unix.STATX_BTIME, &s)
	if err != nil || s.Mask&unix.STATX_BTIME == 0 {
		return ""
	}
	return "-" + strconv.FormatInt(s.Btime.Sec*1e9+int64(s.Btime.Nsec), 36)
}
