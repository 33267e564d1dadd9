package settings

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heedlog/heed/internal/files"
)

// read returns the content of the file, or the reason to ignore it unless it is named: another account than the user's
// and root's can change the file, the link to it or its folder, where it could exchange the file. A file in a folder that
// the user may not search, such as the home folder of another account, is no file. The file is checked again once it is
// open, since it may have been exchanged.
func (f *File) read() (data []byte, why string, err error) {
	if f.Origin == Named {
		data, err = files.ReadRegular(f.Path, maxFile)
		return data, "", err
	}
	user := os.Geteuid()
	link, err := os.Lstat(f.Path)
	if err != nil {
		return nil, "", fs.ErrNotExist
	}
	file, _ := os.Stat(f.Path) // nil for a link that leads nowhere
	folder, _ := os.Stat(filepath.Dir(f.Path))
	why = cmp.Or(others(user, "it", link), others(user, "it", file), others(user, "its folder", folder))
	if why == "" {
		data, err = files.ReadTrusted(f.Path, maxFile, func(info fs.FileInfo) bool {
			why = others(user, "it", info)
			return why == ""
		})
	}
	return data, why, err
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
