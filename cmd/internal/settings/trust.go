package settings

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/heedlog/heed/internal/files"
)

// read returns the content of the file, or the reason to ignore it unless it is named: another account than the user's
// and root's can change the file, the link to it or the folder of either, where it could exchange them. A file in a
// folder that the user may not search, such as the home folder of another account, is no file.
func (f *settingsFile) read() (data []byte, why string, err error) {
	link, err := os.Lstat(f.Path)
	if f.Origin != Named {
		if err != nil {
			return nil, "", fs.ErrNotExist
		}
		user := os.Geteuid()
		target, _ := filepath.EvalSymlinks(f.Path)
		file, _ := os.Stat(target) // nil for a link that leads nowhere
		folder, _ := os.Stat(filepath.Dir(f.Path))
		folderOfTarget, _ := os.Stat(filepath.Dir(cmp.Or(target, f.Path)))
		why = cmp.Or(others(user, "it", link), others(user, "it", file), others(user, "its folder", folder),
			others(user, "the folder of the linked file", folderOfTarget))
		if why != "" {
			return nil, why, nil
		}
	}
	data, err = files.ReadRegular(f.Path, maxFile)
	return data, "", err
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
