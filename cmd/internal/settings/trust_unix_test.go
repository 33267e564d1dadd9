//go:build unix

package settings

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// TestOthers is the table of owners and modes by which a file of settings, a link to it and its folder are trusted.
func TestOthers(t *testing.T) {
	const me, mine, another, shared = 1000, 1000, 1001, 1001
	const dir, sticky, link = fs.ModeDir, fs.ModeSticky, fs.ModeSymlink
	const belongs, write = "it belongs to another user", "other users can write it"
	for name, c := range map[string]struct {
		user     int
		uid, gid uint32
		mode     fs.FileMode
		want     string
	}{
		"the user's":                      {me, me, mine, 0o600, ""},
		"the user's, read by all":         {me, me, shared, 0o644, ""},
		"root's":                          {me, 0, 0, 0o644, ""},
		"root's, for root":                {0, 0, 0, 0o644, ""},
		"another's":                       {me, another, mine, 0o600, belongs},
		"the user's, for root":            {0, me, mine, 0o600, belongs},
		"written by all":                  {me, me, mine, 0o666, write},
		"written by all but the group":    {me, me, mine, 0o602, write},
		"written by the user's group":     {me, me, mine, 0o664, ""},
		"written by a shared group":       {me, me, shared, 0o664, write},
		"root's, written by its group":    {me, 0, 0, 0o664, write},
		"root's, the same for root":       {0, 0, 0, 0o664, write},
		"sticky file":                     {me, me, mine, sticky | 0o666, write},
		"folder":                          {me, me, mine, dir | 0o755, ""},
		"folder of another":               {me, another, mine, dir | 0o755, belongs},
		"folder of another, sticky":       {me, another, mine, dir | sticky | 0o777, belongs},
		"folder written by all":           {me, me, mine, dir | 0o777, write},
		"folder written by a group":       {me, me, shared, dir | 0o775, write},
		"folder written by user's group":  {me, me, mine, dir | 0o775, ""},
		"folder such as /tmp":             {me, 0, 0, dir | sticky | 0o777, ""},
		"folder of root, written by all":  {me, 0, 0, dir | 0o777, write},
		"link":                            {me, me, shared, link | 0o777, ""},
		"link of root":                    {me, 0, 0, link | 0o777, ""},
		"link of another to what is mine": {me, another, mine, link | 0o777, belongs},
	} {
		entries := testkit.Must(fstest.MapFS{"x": {Mode: c.mode, Sys: &syscall.Stat_t{Uid: c.uid, Gid: c.gid}}}.ReadDir("."))
		info := testkit.Must(entries[0].Info()) // which follows no link
		require.Equal(t, c.mode, info.Mode())
		require.Equal(t, c.want, others(c.user, "it", info), name)
	}
}

// TestForeignFiles holds files on disk to the same: ignored ones are not read, and the reason is kept.
func TestForeignFiles(t *testing.T) {
	const another = 4321
	for name, c := range map[string]struct {
		change func(file string) error
		want   string // why the file is ignored; "-" if it is not found
		root   bool   // only root can do that
	}{
		"as made":   {func(string) error { return nil }, "", false},
		"of others": {func(f string) error { return os.Chmod(f, 0o666) }, "other users can write it", false},
		"in a folder of others": {func(f string) error {
			return os.Chmod(filepath.Dir(f), 0o777)
		}, "other users can write its folder", false},
		"in a folder such as /tmp": {func(f string) error {
			return os.Chmod(filepath.Dir(f), 0o777|fs.ModeSticky)
		}, "", false},
		"unreadable, of others": {func(f string) error {
			return errors.Join(os.WriteFile(f, []byte("no settings"), 0o600), os.Chmod(f, 0o222))
		}, "other users can write it", false},
		"a link to nothing": {func(f string) error {
			return errors.Join(os.Remove(f), os.Symlink("nowhere", f))
		}, "-", false},
		"a link to itself, of others": {func(f string) error {
			return errors.Join(os.Remove(f), os.Symlink(filepath.Base(f), f), os.Chmod(filepath.Dir(f), 0o777))
		}, "other users can write its folder", false},
		"a pipe of others": {func(f string) error {
			return errors.Join(os.Remove(f), syscall.Mkfifo(f, 0o600), os.Chmod(f, 0o666))
		}, "other users can write it", false},
		"of another user": {func(f string) error {
			return os.Chown(f, another, another)
		}, "it belongs to another user", true},
		"a link of another user": {func(f string) error {
			return errors.Join(os.Rename(f, f+".mine"), os.Symlink(f+".mine", f), os.Lchown(f, another, another))
		}, "it belongs to another user", true},
		"a link into a folder of others": {func(f string) error {
			shared := filepath.Join(filepath.Dir(f), "shared")
			return errors.Join(os.MkdirAll(shared, 0o700), os.Rename(f, filepath.Join(shared, "x")),
				os.Symlink(filepath.Join(shared, "x"), f), os.Chmod(shared, 0o777))
		}, "other users can write the folder of the linked file", false},
		"in a folder of another user": {func(f string) error {
			return os.Chown(filepath.Dir(f), another, another)
		}, "its folder belongs to another user", true},
	} {
		t.Run(name, func(t *testing.T) {
			if c.root && os.Geteuid() != 0 {
				t.Skip("only root can give a file to another user")
			}
			dir := filepath.Join(t.TempDir(), "heed")
			for origin, file := range map[Origin]string{
				Project: filepath.Join(dir, ProjectFile), User: filepath.Join(dir, "config.yaml"),
			} {
				write(t, file, "top: 3\n")
				require.NoError(t, c.change(file))
				src := Sources{Dir: dir, Getenv: none}
				if origin == User {
					src = Sources{UserDir: filepath.Dir(dir), Getenv: none}
				}
				s := testkit.Must(Load(src))
				want := []settingsFile{{Origin: origin, Path: file}}
				switch c.want {
				case "-":
				case "":
					want[0].Found = true
				default:
					want[0].Ignored = []Error{{
						file, "is ignored: " + c.want + "; name it with --config if you trust it",
					}}
				}
				require.Equal(t, want, s.Files)
				require.Equal(t, c.want == "", s.Value("top").Origin == origin)
				s, err := Load(Sources{File: file, Getenv: none})
				if c.want != "-" && s == nil {
					require.ErrorContains(t, err, file) // named: read, and wrong by itself
				} else if c.want != "-" {
					require.Equal(t, Named, s.Value("top").Origin)
				}
			}
		})
	}
}

// TestSearchOwners: the search for a project's file ends where the folder above has another owner.
func TestSearchOwners(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can give a folder to another user")
	}
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	write(t, filepath.Join(top, "a", ProjectFile), "top: 3\n")
	require.NoError(t, os.MkdirAll(dir, 0o700))
	for _, folder := range []string{dir, filepath.Join(top, "a")} {
		require.NoError(t, os.Chown(folder, 4321, 4321))
		s := testkit.Must(Load(Sources{Dir: dir, Getenv: none}))
		if folder == dir {
			require.Equal(t, []settingsFile{{Origin: Project, Path: filepath.Join(dir, ProjectFile)}}, s.Files)
			continue
		}
		require.ErrorContains(t, s.Files[0].Ignored[0], "its folder belongs to another user")
	}
}

// TestAnotherUser loads as another account, such as below sudo or setpriv with the home folder of root: files in folders
// that the account may not search are no files, and root's are read.
func TestAnotherUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Skip("only root can act as another user")
	}
	top := testkit.Must(os.MkdirTemp("", "another")) //nolint:usetesting // t.TempDir is closed to other users
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(top)) })
	require.NoError(t, os.Chmod(top, 0o755))
	const another = 4321
	root, own := filepath.Join(top, "root"), filepath.Join(top, "own")
	write(t, filepath.Join(root, "p", ProjectFile), "top: 3\n")
	write(t, filepath.Join(root, "heed", "config.yaml"), "top: 3\n")
	write(t, filepath.Join(own, ProjectFile), "top: 4\n")
	require.NoError(t, os.Chown(own, another, another))
	require.NoError(t, os.Chown(filepath.Join(own, ProjectFile), another, another))
	as := func(user int, src Sources) (*Settings, error) {
		require.NoError(t, syscall.Seteuid(user))
		defer func() { require.NoError(t, syscall.Seteuid(0)) }()
		src.Getenv = none
		return Load(src)
	}

	s, err := as(another, Sources{Dir: filepath.Join(root, "p"), UserDir: root, Home: root})
	require.NoError(t, err, "root's folders are closed")
	require.Equal(t, Default, s.Value("top").Origin)
	require.False(t, s.Files[0].Found || s.Files[1].Found)

	require.NoError(t, os.Chmod(root, 0o755))
	require.NoError(t, os.Chmod(filepath.Join(root, "p"), 0o755))
	_, err = as(another, Sources{Dir: filepath.Join(root, "p")})
	require.ErrorContains(t, err, "permission denied", "it is there, and may have what heed should know")
	require.NoError(t, os.Chmod(filepath.Join(root, "p", ProjectFile), 0o644))
	s = testkit.Must(as(another, Sources{Dir: filepath.Join(root, "p")}))
	require.Equal(t, "3", s.Value("top").String())

	s = testkit.Must(as(another, Sources{Dir: own}))
	require.Equal(t, "4", s.Value("top").String())
	s, err = as(another+1, Sources{Dir: own})
	require.NoError(t, err, "0600")
	require.False(t, s.Files[0].Found)
	require.NoError(t, os.Chmod(own, 0o755))
	for _, user := range []int{0, another + 1} {
		s = testkit.Must(as(user, Sources{Dir: own}))
		require.Equal(t, Default, s.Value("top").Origin)
	}
}
