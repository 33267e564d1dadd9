//go:build !unix

package settings

import "io/fs"

// owner returns -1, as [os.Geteuid] does: such systems have no number of an account.
func owner(fs.FileInfo) (uid, gid int) { return -1, -1 }
