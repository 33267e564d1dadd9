package intake

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/heedlog/heed/internal/files"
)

// Source is the populations that a file belongs to, and how long the path is below which its player is.
type Source struct {
	Part, Root int
}

// Join returns the source of a file that two patterns name.
func (s Source) Join(o Source) Source { return Source{s.Part | o.Part, max(s.Root, o.Root)} }

// Root returns the folder below which the first folder names the player: the longest common folder of all patterns,
// without wildcards. An archive is a folder; an archive that is alone in a folder is that folder.
func Root(patterns []string) string {
	root := ""
	for i, pattern := range patterns {
		r := filepath.ToSlash(clean(pattern))
		info, err := os.Stat(pattern)
		switch end := strings.IndexAny(r, `*?[`); {
		case err == nil && info.IsDir(), IsArchive(r) && end < 0:
			r = strings.TrimPrefix(r+"/", "./")
			if in, _ := os.ReadDir(pattern); len(in) == 1 && IsArchive(in[0].Name()) {
				r += in[0].Name() + "/"
			}
		case err != nil && end >= 0:
			r = r[:strings.LastIndexByte(r[:end], '/')+1]
		default:
			r = r[:strings.LastIndexByte(r, '/')+1]
		}
		for i > 0 && !strings.HasPrefix(r, root) {
			root = root[:strings.LastIndexByte(root[:len(root)-1], '/')+1]
		}
		if i == 0 {
			root = r
		}
	}
	return root
}

// clean returns a local pattern as the names of its files begin.
func clean(pattern string) string {
	if strings.Contains(pattern, "://") {
		return pattern
	}
	return filepath.Clean(pattern)
}

// isRemote reports whether a pattern names files of another file system than this machine's.
func isRemote(pattern string) bool { return strings.Contains(pattern, "://") }

// Match calls found with each file of a pattern. list returns the files of a remote pattern; nil means none. A folder
// of this machine means the logs and archives in it, at any depth. No file is an error.
func Match(pattern string, list func(pattern string) ([]string, error), found func(name string)) error {
	pattern = clean(pattern)
	names, err := matched(pattern, list)
	if err == nil && len(names) == 0 {
		err = errors.New("no file matches")
	}
	if err != nil {
		return fmt.Errorf("%s: %w", pattern, err)
	}
	any := false
	for _, name := range names {
		// Only folders of this machine are known as folders.
		if info, err := os.Stat(name); err != nil || !info.IsDir() {
			any = true
			found(name)
			continue
		}
		// With the separator, a link to a folder is that folder. The function below returns no error, so nor does this.
		inside := false
		_ = filepath.WalkDir(name+string(filepath.Separator), func(file string, entry fs.DirEntry, err error) error {
			if isInput(file, entry, err) {
				inside = true
				found(file)
			}
			return nil
		})
		if !inside && len(names) > 1 {
			found(name) // reading it names it
		}
		any = any || inside
	}
	if !any {
		return fmt.Errorf("%s: no log in it", pattern)
	}
	return nil
}

// matched returns the files of a pattern. A local path that exists is itself, even if its name has wildcards.
func matched(pattern string, list func(pattern string) ([]string, error)) ([]string, error) {
	if isRemote(pattern) {
		if list == nil {
			return nil, errors.New("is on another machine: heed-fleet reads it, see docs/fleet.md")
		}
		return list(pattern)
	}
	if _, err := os.Lstat(pattern); err == nil {
		return []string{pattern}, nil
	}
	if strings.Contains(pattern, "**") {
		return nil, errors.New("** is for gs:// and s3://; of a local folder, give its name to read it at any depth")
	}
	return filepath.Glob(pattern)
}

// isInput reports whether a walk's entry is to be read. An unreadable folder or a pipe is to be read, too: reading it
// reports a failure with its name, and the walk continues.
func isInput(file string, entry fs.DirEntry, err error) bool {
	return err != nil || !entry.IsDir() && (files.MayBeLog(file) || IsArchive(file))
}
