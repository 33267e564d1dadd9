package settings

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
)

// foreign returns the reason to ignore a file of settings that was found, and not named: another account than the
// user's and root's can change the file, the link to it or its folder, where it could exchange the file. It returns ""
// if the file is trusted, and if there is none.
func foreign(path string) string {
	user := os.Geteuid()
	link, err := os.Lstat(path)
	if err != nil {
		return ""
	}
	file, _ := os.Stat(path) // nil for a link that leads nowhere
	folder, _ := os.Stat(filepath.Dir(path))
	return cmp.Or(others(user, "it", link), others(user, "it", file), others(user, "its folder", folder))
}

// others returns how another account than user and root can change a file or folder, which the reason calls it, or "".
// In a folder with the sticky bit, such as /tmp, accounts change only their own files. A group with the number
// of its owner is the owner's alone, by the custom of systems whose new files the group may write (umask 002); the
// group of root may have members. Windows has no such numbers: there every file is trusted.
func others(user int, it string, info fs.FileInfo) string {
	if info == nil {
		return ""
	}
	mode := info.Mode()
	switch uid, gid := owner(info); {
	case uid != user && uid != 0:
		return it + " belongs to another user"
	case uid < 0, mode&fs.ModeSymlink != 0, mode.IsDir() && mode&fs.ModeSticky != 0: // a link's mode says nothing
	case mode&0o002 != 0, mode&0o020 != 0 && (gid != uid || uid == 0):
		return "other users can write " + it
	}
	return ""
}
