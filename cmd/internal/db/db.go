// Package db opens databases of SQLite for the state of programs: for their owner alone, in one version of a schema,
// and safe for several processes at once. A corrupt file is set aside, never deleted.
package db

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// Config says which database to open.
type Config struct {
	// Path names the file. Its folder is made with mode 0700, the file with mode 0600.
	Path string
	// Application identifies databases of this kind, as PRAGMA application_id. It must not be 0.
	Application int32
	// Migrations are statements that lead from each version of the schema to the next. They are never changed, only added.
	Migrations []string
	// Trusting leaves out the check of the whole file if it was closed, or another process has it open: it is done
	// if a log file of SQLite shows that the last to have it open was killed, and after [DB.Doubt].
	Trusting bool
	// Wait bounds the wait for other processes: of a transaction, by default 20 s, and of Open, by default 40 s.
	Wait time.Duration
}

// DB is an open database. Its methods may be called from many goroutines.
type DB struct {
	*sql.DB

	// SetAside is the new path of a corrupt file, which was moved with its log files; "" for none.
	SetAside string

	open  *flock.Flock // shared by all that have it open; nil unless trusting
	doubt string       // a file that is there if the next to open it is to check it
}

// Doubt has the next process that opens the database alone check the whole file, if err says that it is corrupt.
func (d *DB) Doubt(err error) {
	if corrupt(err) {
		_ = os.WriteFile(d.doubt, nil, 0o600) // without it the error comes again
	}
}

// Close closes the database.
func (d *DB) Close() (err error) {
	if d.DB != nil {
		err = d.DB.Close()
	}
	if d.open != nil {
		err = errors.Join(err, d.open.Close())
	}
	return err
}

// ErrForeign is the error for a file that is another program's, or of a newer version of this one. It is not touched.
var ErrForeign = errors.New("not a database of this version of heed")

// wait bounds the wait for other processes by default, and for a process that opens the same file. SQLite is not fair:
// a process that writes without a pause lets another wait for seconds.
const wait = 20 * time.Second

// Open opens the database, makes it if there is none, and brings it to the latest version. A committed transaction
// survives a kill of the process, and a loss of power if the disk keeps confirmed writes. An error names the file. It
// reads the whole file once, to know that it is whole, unless [Config.Trusting] says otherwise.
func Open(ctx context.Context, c Config) (*DB, error) {
	d, err := open(ctx, c)
	if err != nil {
		return nil, fmt.Errorf("database %s: %w", c.Path, Plain(err))
	}
	return d, nil
}

func open(ctx context.Context, c Config) (*DB, error) {
	if err := foreign(&c); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(c.Path), 0o700); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*wait)
	defer cancel()
	patience, enough := context.WithTimeout(ctx, cmp.Or(c.Wait, 2*wait))
	defer enough()
	lock := flock.New(c.Path+".lock", flock.SetPermissions(0o600))
	if _, err := lock.TryLockContext(patience, 5*time.Millisecond); patience.Err() != nil {
		return nil, fmt.Errorf("another process opens it: %w", err)
	} else if err != nil {
		return nil, err
	}
	defer lock.Close() //nolint:errcheck // the kernel ends it
	d, err := try(ctx, c)
	if !corrupt(err) {
		return d, err
	}
	aside, moveErr := setAside(c.Path)
	if moveErr != nil {
		return nil, errors.Join(err, moveErr)
	}
	if d, err = try(ctx, c); err == nil {
		d.SetAside = aside
	}
	return d, err
}

// ErrFull is the error for a disk on which there is no room.
var ErrFull = errors.New("the disk is full")

// Plain adds to an error its meaning for a person.
func Plain(err error) error {
	e, ok := errors.AsType[*sqlite.Error](err)
	if ok && (e.Code() == lib.SQLITE_FULL || e.Code() == lib.SQLITE_IOERR_SHMSIZE) { // the latter if a file cannot grow
		return fmt.Errorf("%w: %w", ErrFull, err)
	}
	return err
}

// foreign returns an error for a file that is another program's, or of a later version, by its header: SQLite would
// change a file that it opens. A file without an id, such as a log that was named by mistake, is this program's if this
// program's lock is in the same folder: the program was killed in its first transaction, or the header is lost.
func foreign(c *Config) error {
	info, err := os.Stat(c.Path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err == nil && !info.Mode().IsRegular(): // to open a pipe would wait for who writes to it
		err = fmt.Errorf("%w: it is no regular file", ErrForeign)
	}
	if err != nil {
		return err
	}
	f, err := os.Open(c.Path)
	if err != nil {
		return err
	}
	defer f.Close() //nolint:errcheck // only read from
	header := make([]byte, 100)
	_, err = io.ReadFull(f, header)
	version, application := int32(binary.BigEndian.Uint32(header[60:])), int32(binary.BigEndian.Uint32(header[68:]))
	known := present(c.Path + ".lock")
	switch {
	case err != nil || !bytes.HasPrefix(header, []byte("SQLite format 3\x00")):
		if info.Size() > 0 && !known {
			return fmt.Errorf("%w: it is no database", ErrForeign)
		}
		return nil // empty, or for SQLite to say
	case application == 0 && known:
		return nil
	}
	return c.accept(application, int(version))
}

// accept returns an error for a file that is another program's, or of a later version.
func (c *Config) accept(application int32, version int) error {
	switch {
	case application != c.Application:
		return fmt.Errorf("%w: it is another program's", ErrForeign)
	case version < 0 || version > len(c.Migrations):
		return fmt.Errorf("%w: it is of a newer one (version %d; this one knows %d)", ErrForeign, version, len(c.Migrations))
	}
	return nil
}

func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// errCorrupt is the error of a check of the whole file.
var errCorrupt = errors.New("it is corrupt")

func corrupt(err error) bool {
	if e, ok := errors.AsType[*sqlite.Error](err); ok {
		return e.Code()&0xff == lib.SQLITE_NOTADB || e.Code()&0xff == lib.SQLITE_CORRUPT
	}
	return errors.Is(err, errCorrupt)
}

// try opens the file as it is. The lock is held.
func try(ctx context.Context, c Config) (_ *DB, err error) {
	file, err := os.OpenFile(c.Path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite would make it readable for others
	if err != nil {
		return nil, err
	}
	_ = file.Close() // nothing was written
	path, err := filepath.Abs(c.Path)
	if err != nil {
		return nil, err
	}
	check := true
	d := &DB{doubt: c.Path + ".check"}
	defer func() {
		if err != nil {
			err = errors.Join(err, d.Close())
		}
	}()
	if c.Trusting {
		d.open = flock.New(c.Path+".open", flock.SetPermissions(0o600))
		alone, lockErr := d.open.TryLock()
		check = alone && (present(path+"-wal") || present(d.doubt))
		if err := errors.Join(lockErr, d.open.Unlock(), d.open.RLock()); err != nil {
			return nil, err
		}
	}
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // of a drive
	}
	query := url.Values{"_txlock": {"immediate"}, "_pragma": {
		fmt.Sprintf("busy_timeout(%d)", cmp.Or(c.Wait, wait).Milliseconds()), "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
	}}
	name := (&url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}).String()
	d.DB, _ = sql.Open("sqlite", name) // the driver is known, and nothing is opened yet
	if check {
		_ = os.Remove(d.doubt) // if it stays, the next one checks again
		var whole string
		if err := d.QueryRowContext(ctx, "PRAGMA quick_check(1)").Scan(&whole); err != nil {
			return nil, err
		}
		if whole != "ok" {
			return nil, fmt.Errorf("%w: %s", errCorrupt, whole)
		}
	}
	return d, d.migrate(ctx, c)
}

// migrate brings the schema to the latest version.
func (d *DB) migrate(ctx context.Context, c Config) error {
	var application int32
	var version, tables int
	if err := d.QueryRowContext(ctx, `SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)
		FROM pragma_application_id, pragma_user_version`).Scan(&application, &version, &tables); err != nil {
		return err
	}
	if application != 0 || version != 0 || tables > 0 {
		if err := c.accept(application, version); err != nil {
			return err
		}
	}
	for n, statements := range c.Migrations[version:] {
		err := d.Tx(ctx, func(tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, fmt.Sprintf("%s; PRAGMA application_id = %d; PRAGMA user_version = %d",
				statements, c.Application, version+n+1))
			return err
		})
		if err != nil {
			return fmt.Errorf("migration %d: %w", version+n+1, err)
		}
	}
	return nil
}

// Tx calls f in a transaction during which no other writes, and commits it unless f returns an error.
func (d *DB) Tx(ctx context.Context, f func(tx *sql.Tx) error) error {
	tx, err := d.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := f(tx); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// setAside moves a file and its log files to the first free name, and returns the name of the file.
func setAside(path string) (string, error) {
	for n := 1; ; n++ {
		aside := fmt.Sprintf("%s.corrupt-%d", path, n)
		if _, err := os.Lstat(aside); err == nil {
			continue
		} else if !errors.Is(err, os.ErrNotExist) {
			return "", err
		}
		for _, end := range []string{"-wal", "-shm", ""} {
			if err := os.Rename(path+end, aside+end); err != nil && !errors.Is(err, os.ErrNotExist) {
				return "", err
			}
		}
		return aside, nil
	}
}
