//go:build unix

package settings

import (
	"io/fs"
	"syscall"
)

// owner returns the account and the group that own a file.
func owner(info fs.FileInfo) (uid, gid int) {
	stat := info.Sys().(*syscall.Stat_t)
	return int(stat.Uid), int(stat.Gid)
}
