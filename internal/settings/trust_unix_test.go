//go:build unix

package settings

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

// TestForeign is the table of owners and modes by which a file of settings is used.
func TestForeign(t *testing.T) {
	const me, mine, another, theirs = 1000, 1000, 1001, 1001
	own := fs.FileMode(0o644)
	type who struct {
		uid, gid uint32
		mode     fs.FileMode
	}
	folder := who{me, mine, fs.ModeDir | 0o755}
	for name, c := range map[string]struct {
		user               int
		file, folder, link who // a link with no mode: the file itself
		want               string
	}{
		"the user's":                    {user: me, file: who{me, mine, own}, folder: folder},
		"the user's, of a shared group": {user: me, file: who{me, theirs, own}, folder: folder},
		"root's":                        {user: me, file: who{0, 0, own}, folder: folder},
		"root's, in root's folder":      {user: me, file: who{0, 0, own}, folder: who{0, 0, fs.ModeDir | 0o755}},
		"root's, for root":              {user: 0, file: who{0, 0, own}, folder: who{0, 0, fs.ModeDir | 0o755}},
		"another's":                     {user: me, file: who{another, mine, own}, folder: folder, want: "it belongs to another user"},
		"the user's, for root":          {user: 0, file: who{me, mine, own}, folder: folder, want: "it belongs to another user"},
		"written by all":                {user: me, file: who{me, mine, 0o666}, folder: folder, want: "other users can write it"},
		"written by all but the group":  {user: me, file: who{me, mine, 0o602}, folder: folder, want: "other users can write it"},
		"written by the user's group":   {user: me, file: who{me, mine, 0o664}, folder: folder},
		"written by a shared group":     {user: me, file: who{me, theirs, 0o664}, folder: folder, want: "other users can write it"},
		"written by root's group":       {user: me, file: who{0, 0, 0o664}, folder: folder, want: "other users can write it"},
		"written by root's group, root": {user: 0, file: who{0, 0, 0o664}, folder: folder, want: "other users can write it"},
		"sticky, written by all":        {user: me, file: who{me, mine, fs.ModeSticky | 0o666}, folder: folder, want: "other users can write it"},

		"in a folder of another": {
			user: me, file: who{me, mine, own}, folder: who{another, theirs, fs.ModeDir | 0o755},
			want: "its folder belongs to another user",
		},
		"in a folder of all": {
			user: me, file: who{me, mine, own}, folder: who{me, mine, fs.ModeDir | 0o777},
			want: "other users can write its folder",
		},
		"in a folder of a shared group": {
			user: me, file: who{me, mine, own}, folder: who{me, theirs, fs.ModeDir | 0o775},
			want: "other users can write its folder",
		},
		"in a folder of the user's group": {user: me, file: who{me, mine, own}, folder: who{me, mine, fs.ModeDir | 0o775}},
		"in /tmp":                         {user: me, file: who{me, mine, own}, folder: who{0, 0, fs.ModeDir | fs.ModeSticky | 0o777}},
		"another's, in /tmp": {
			user: me, file: who{another, theirs, own}, folder: who{0, 0, fs.ModeDir | fs.ModeSticky | 0o777},
			want: "it belongs to another user",
		},

		"a link of the user's": {user: me, file: who{0, 0, own}, folder: folder, link: who{me, mine, fs.ModeSymlink | 0o777}},
		"a link of another's to a file of the user's": {
			user: me, file: who{me, mine, own}, folder: who{0, 0, fs.ModeDir | fs.ModeSticky | 0o777},
			link: who{another, theirs, fs.ModeSymlink | 0o777}, want: "it belongs to another user",
		},
		"a link of the user's to a file of another's": {
			user: me, file: who{another, theirs, own}, folder: folder, link: who{me, mine, fs.ModeSymlink | 0o777},
			want: "it belongs to another user",
		},
		"a link of the user's to a file of all": {
			user: me, file: who{me, mine, 0o646}, folder: folder, link: who{me, mine, fs.ModeSymlink | 0o777},
			want: "other users can write it",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if c.link.mode == 0 {
				c.link = c.file
			}
			info := func(w who) fs.FileInfo {
				m := fstest.MapFS{"x": {Mode: w.mode, Sys: &syscall.Stat_t{Uid: w.uid, Gid: w.gid}}}
				entries, err := m.ReadDir(".") // which follows no link
				require.NoError(t, err)
				i, err := entries[0].Info()
				require.NoError(t, err)
				require.Equal(t, w.mode, i.Mode())
				return i
			}
			require.Equal(t, c.want, cmp.Or(others(c.user, "it", info(c.link)), others(c.user, "it", info(c.file)),
				others(c.user, "its folder", info(c.folder))))
		})
	}
}

// TestForeignFiles holds files on disk to the same: ignored ones are not read, and the reason is kept.
func TestForeignFiles(t *testing.T) {
	asRoot := func(t *testing.T) {
		t.Helper()
		if os.Geteuid() != 0 {
			t.Skip("only root can give a file to another user")
		}
	}
	const another = 4321
	for name, c := range map[string]struct {
		change func(t *testing.T, file string)
		want   string // why the file is ignored; "-" if it is not found
	}{
		"as made":   {func(*testing.T, string) {}, ""},
		"of others": {func(t *testing.T, f string) { t.Helper(); require.NoError(t, os.Chmod(f, 0o666)) }, "other users can write it"},
		"in a folder of others": {func(t *testing.T, f string) {
			t.Helper()
			require.NoError(t, os.Chmod(filepath.Dir(f), 0o777))
		}, "other users can write its folder"},
		"in a folder such as /tmp": {func(t *testing.T, f string) {
			t.Helper()
			require.NoError(t, os.Chmod(filepath.Dir(f), 0o777|fs.ModeSticky))
		}, ""},
		"unreadable, of others": {func(t *testing.T, f string) {
			t.Helper()
			require.NoError(t, os.WriteFile(f, []byte("no settings"), 0o600))
			require.NoError(t, os.Chmod(f, 0o222))
		}, "other users can write it"},
		"a link to nothing": {func(t *testing.T, f string) {
			t.Helper()
			require.NoError(t, os.Remove(f))
			require.NoError(t, os.Symlink("nowhere", f))
		}, "-"},
		"a pipe of others": {func(t *testing.T, f string) {
			t.Helper()
			require.NoError(t, os.Remove(f))
			require.NoError(t, syscall.Mkfifo(f, 0o600))
			require.NoError(t, os.Chmod(f, 0o666))
		}, "other users can write it"},
		"of another user": {func(t *testing.T, f string) {
			t.Helper()
			asRoot(t)
			require.NoError(t, os.Chown(f, another, another))
		}, "it belongs to another user"},
		"a link of another user": {func(t *testing.T, f string) {
			t.Helper()
			asRoot(t)
			require.NoError(t, os.Rename(f, f+".mine"))
			require.NoError(t, os.Symlink(f+".mine", f))
			require.NoError(t, os.Lchown(f, another, another))
		}, "it belongs to another user"},
		"in a folder of another user": {func(t *testing.T, f string) {
			t.Helper()
			asRoot(t)
			require.NoError(t, os.Chown(filepath.Dir(f), another, another))
		}, "its folder belongs to another user"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "heed")
			for origin, file := range map[Origin]string{
				Project: filepath.Join(dir, ProjectFile), User: filepath.Join(dir, "config.yaml"),
			} {
				write(t, file, "top: 3\n")
				c.change(t, file)
				src := Sources{Dir: dir, Getenv: none}
				if origin == User {
					src = Sources{UserDir: filepath.Dir(dir), Getenv: none}
				}
				s, err := Load(src)
				require.NoError(t, err)
				want := []File{{Origin: origin, Path: file}}
				switch c.want {
				case "-":
				case "":
					want[0].State = "read"
				default:
					want[0].State, want[0].Ignored = "ignored", Errors{{
						file, "is ignored: " + c.want + "; name it with --config if you trust it",
					}}
				}
				require.Equal(t, want, s.Files)
				require.Equal(t, c.want == "", s.Value("top").Origin == origin)
				s, err = Load(Sources{File: file, Getenv: none})
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
		s, err := Load(Sources{Dir: dir, Getenv: none})
		require.NoError(t, err)
		if folder == dir {
			require.Equal(t, []File{{Origin: Project, Path: filepath.Join(dir, ProjectFile)}}, s.Files)
			continue
		}
		require.Equal(t, "ignored", s.Files[0].State)
		require.ErrorContains(t, s.Files[0].Ignored, "its folder belongs to another user")
	}
}
