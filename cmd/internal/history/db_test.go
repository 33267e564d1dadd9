package history_test

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/db"
	"github.com/heedlog/heed/internal/testkit" // programs end with the tests, too
)

func config(path string) db.Config {
	return db.Config{Path: path, Application: 7, Migrations: []string{"CREATE TABLE a (n INTEGER PRIMARY KEY) STRICT"}}
}

func TestOpenMigratesOnce(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "a folder", "what? #1 100%.db"))
	for n := range 3 {
		d := testkit.Must(db.Open(t.Context(), c))
		require.Empty(t, d.SetAside)
		_ = testkit.Must(d.Exec("INSERT INTO a VALUES (?)", n))
		require.NoError(t, d.Close())
	}
	c.Migrations = append(c.Migrations, "ALTER TABLE a ADD COLUMN b TEXT; CREATE TABLE c (n INTEGER)")
	d := testkit.Must(db.Open(t.Context(), c))
	var n int
	require.NoError(t, d.QueryRow("SELECT count(b IS NULL) FROM a").Scan(&n))
	require.Equal(t, 3, n)
	require.NoError(t, d.Close())
	if runtime.GOOS != "windows" {
		for path, mode := range map[string]os.FileMode{c.Path: 0o600, filepath.Dir(c.Path): os.ModeDir | 0o700} {
			info := testkit.Must(os.Stat(path))
			require.Equal(t, mode, info.Mode(), path)
		}
	}

	// A version that is not known is not touched, and neither is another program's.
	before := testkit.Must(os.ReadFile(c.Path))
	_, err := db.Open(t.Context(), config(c.Path))
	require.ErrorIs(t, err, db.ErrForeign)
	require.ErrorContains(t, err, "of a newer one (version 2; this one knows 1)")
	c.Application = 8
	_, err = db.Open(t.Context(), c)
	require.ErrorContains(t, err, "it is another program's")
	after := testkit.Must(os.ReadFile(c.Path))
	require.Equal(t, before, after)
}

// TestForeign: another program's file stays as it is, whatever stands beside it, and nothing is made there.
func TestForeign(t *testing.T) {
	for _, setup := range []string{
		"PRAGMA application_id = 5; CREATE TABLE a (n)", "CREATE TABLE a (n)", "PRAGMA journal_mode = WAL; CREATE TABLE a (n)",
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, "x.db")
		raw := testkit.Must(sql.Open("sqlite", path))
		_, err := raw.Exec(setup)
		require.NoError(t, err) // it stays open, and so does its log file
		state := func() map[string]string {
			all := map[string]string{}
			entries := testkit.Must(os.ReadDir(dir))
			for _, e := range entries {
				data := testkit.Must(os.ReadFile(filepath.Join(dir, e.Name())))
				all[e.Name()] = string(data)
			}
			return all
		}
		before := state()
		_, err = db.Open(t.Context(), config(path))
		require.ErrorIs(t, err, db.ErrForeign)
		require.Equal(t, before, state())
		require.NoError(t, raw.Close())
	}
	_, err := db.Open(t.Context(), config(os.DevNull)) // a pipe would be waited for
	require.ErrorIs(t, err, db.ErrForeign)
	path := filepath.Join(t.TempDir(), "x.db")
	for _, length := range []int{0, 1, 15, 16, 17, 10_000} {
		log := []byte(strings.Repeat("a log\n", length)[:length])
		require.NoError(t, os.WriteFile(path, log, 0o600))
		d, err := db.Open(t.Context(), config(path))
		if length == 0 {
			require.NoError(t, errors.Join(err, d.Close(), os.Remove(path+".lock")), "an empty file is no one's")
			continue
		}
		require.ErrorIs(t, err, db.ErrForeign)
		left := testkit.Must(os.ReadFile(path))
		require.Equal(t, log, left)
	}
}

// TestFailedMigration leaves the version before it whole.
func TestFailedMigration(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "x.db"))
	c.Migrations = append(c.Migrations, "CREATE TABLE b (n INTEGER); CREATE TABLE a (n INTEGER)")
	_, err := db.Open(t.Context(), c)
	require.ErrorContains(t, err, "migration 2")
	require.ErrorContains(t, err, c.Path)
	c.Migrations = c.Migrations[:1]
	d := testkit.Must(db.Open(t.Context(), c))
	require.NoError(t, d.Close())
}

// TestCorruptIsSetAside with its log files, whatever is wrong with it, and is not deleted.
func TestCorruptIsSetAside(t *testing.T) {
	whole := config(filepath.Join(t.TempDir(), "x.db"))
	d := testkit.Must(db.Open(t.Context(), whole))
	for n := range 2000 {
		_ = testkit.Must(d.Exec("INSERT INTO a VALUES (?)", n*1000))
		if n == 100 {
			_, err := d.Exec("PRAGMA synchronous = OFF") // of this connection; the file need not survive
			require.NoError(t, err)
		}
	}
	require.NoError(t, d.Close())
	good := testkit.Must(os.ReadFile(whole.Path))
	for name, content := range map[string][]byte{
		"text": []byte(strings.Repeat("not a database\n", 500)), "cut off": good[:len(good)/2],
		"overwritten": append(append(append([]byte(nil), good[:4096]...), make([]byte, 8192)...), good[4096+8192:]...),
	} {
		t.Run(name, func(t *testing.T) {
			c := config(filepath.Join(t.TempDir(), "x.db"))
			require.NoError(t, os.WriteFile(c.Path+".lock", nil, 0o600)) // else it is another program's
			for n := range 2 {
				require.NoError(t, os.WriteFile(c.Path, content, 0o600))
				d := testkit.Must(db.Open(t.Context(), c))
				require.Equal(t, c.Path+".corrupt-"+strconv.Itoa(n+1), d.SetAside)
				kept := testkit.Must(os.ReadFile(d.SetAside))
				require.Equal(t, content, kept)
				var rows int
				require.NoError(t, d.QueryRow("SELECT count(*) FROM a").Scan(&rows))
				require.Zero(t, rows)
				require.NoError(t, d.Close())
			}
		})
	}
}

// TestTrusting: a file is checked where the last to have it open was killed, and not while another has it open.
func TestTrusting(t *testing.T) {
	c := config(filepath.Join(t.TempDir(), "x.db"))
	d := testkit.Must(db.Open(t.Context(), c))
	_ = testkit.Must(d.Exec("CREATE TABLE b AS SELECT hex(randomblob(30000))"))
	require.NoError(t, d.Close())
	file := testkit.Must(os.OpenFile(c.Path, os.O_RDWR, 0))
	_ = testkit.Must(file.WriteAt(make([]byte, 4096), 3*4096))
	require.NoError(t, file.Close())

	c.Trusting = true
	d = testkit.Must(db.Open(t.Context(), c))
	_, err := d.Exec("INSERT INTO a VALUES (1)") // makes a log file
	require.NoError(t, err)
	other := testkit.Must(db.Open(t.Context(), c))
	require.Empty(t, other.SetAside)
	require.NoError(t, other.Close())
	require.NoError(t, d.Close())
	require.NoError(t, os.WriteFile(c.Path+"-wal", nil, 0o600))
	d = testkit.Must(db.Open(t.Context(), c))
	require.NotEmpty(t, d.SetAside)
	require.NoError(t, d.Close())
}

func TestErrorsNameTheFile(t *testing.T) {
	dir := t.TempDir()
	_, err := db.Open(t.Context(), config(dir))
	require.ErrorContains(t, err, dir)
	file := filepath.Join(dir, "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = db.Open(t.Context(), config(filepath.Join(file, "x.db")))
	require.ErrorContains(t, err, filepath.Join(file, "x.db"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = db.Open(ctx, config(filepath.Join(dir, "x.db")))
	require.ErrorIs(t, err, context.Canceled)
	if os.Getuid() == 0 || runtime.GOOS == "windows" {
		t.Log("a folder that cannot be written is not tried by root")
		return
	}
	require.NoError(t, os.Mkdir(filepath.Join(dir, "closed"), 0o500))
	_, err = db.Open(t.Context(), config(filepath.Join(dir, "closed", "x.db")))
	require.ErrorIs(t, err, os.ErrPermission)
}

// TestDatabaseFull: what does not fit is an error, and what was there stays.
func TestDatabaseFull(t *testing.T) {
	d := testkit.Must(db.Open(t.Context(), config(filepath.Join(t.TempDir(), "x.db"))))
	d.SetMaxOpenConns(1)
	_ = testkit.Must(d.Exec("INSERT INTO a VALUES (1); PRAGMA max_page_count = 3"))
	err := d.Tx(t.Context(), func(tx *sql.Tx) error {
		_, err := tx.Exec("CREATE TABLE b AS SELECT hex(randomblob(100000))")
		return err
	})
	require.ErrorContains(t, err, "full")
	var n int
	require.NoError(t, d.QueryRow("SELECT count(*) FROM a").Scan(&n))
	require.Equal(t, 1, n)
	require.NoError(t, d.Close())
}

// childEnv makes the test binary write numbers to the database that it names, and print each that was committed.
const childEnv = "HEED_TEST_DB"

func TestMain(m *testing.M) {
	path := os.Getenv(childEnv)
	if path == "" {
		os.Exit(m.Run())
	}
	d, err := db.Open(context.Background(), config(path))
	for err == nil {
		var n int
		err = d.Tx(context.Background(), func(tx *sql.Tx) error {
			return tx.QueryRow("INSERT INTO a SELECT coalesce(max(n), 0) + 1 FROM a RETURNING n").Scan(&n)
		})
		fmt.Println(n)
	}
	fmt.Println(err)
	os.Exit(1)
}

// TestKilledWriters: several processes open and write one database and are killed; what each said was committed is
// there, and the database is whole.
func TestKilledWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	rounds := 2
	if testkit.IsFull() {
		rounds = 20
	}
	for range rounds {
		committed := map[int]bool{}
		var children []*exec.Cmd
		var out []*bufio.Scanner
		for range 2 {
			c := exec.Command(os.Args[0])
			c.Env = append(os.Environ(), childEnv+"="+path)
			pipe := testkit.Must(c.StdoutPipe())
			require.NoError(t, c.Start())
			children, out = append(children, c), append(out, bufio.NewScanner(pipe))
		}
		for i, lines := range out {
			for range 3 {
				require.True(t, lines.Scan())
				n, err := strconv.Atoi(lines.Text())
				require.NoError(t, err, lines.Text())
				require.False(t, committed[n], "two processes wrote %d", n)
				committed[n] = true
			}
			require.NoError(t, children[i].Process.Kill())
		}
		for _, c := range children {
			_ = c.Wait()
		}
		d := testkit.Must(db.Open(t.Context(), config(path)))
		require.Empty(t, d.SetAside)
		for n := range committed {
			var there int
			require.NoError(t, d.QueryRow("SELECT count(*) FROM a WHERE n = ?", n).Scan(&there))
			require.Equal(t, 1, there, "%d was committed", n)
		}
		require.NoError(t, d.Close())
	}
}

// TestOpenStuck: a process that opens the file and does not go on holds nobody longer than Config.Wait.
func TestOpenStuck(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.db")
	lock := flock.New(path + ".lock")
	require.NoError(t, lock.Lock())
	defer func() { require.NoError(t, lock.Close()) }()
	begun := time.Now()
	_, err := db.Open(t.Context(), db.Config{Path: path, Application: 1, Wait: 10 * time.Millisecond})
	require.ErrorContains(t, err, "another process opens it")
	require.Less(t, time.Since(begun), 10*time.Second)
}
