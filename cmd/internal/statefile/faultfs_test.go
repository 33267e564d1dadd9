package statefile

import (
	"errors"
	"io/fs"
	"maps"
	"slices"
)

// errKilled is what a disk returns once the process was killed.
var errKilled = errors.New("the process was killed")

// faultFS is a disk in memory. It fails where fault says so, and forgets what
// was not synced when the power goes.
type faultFS struct {
	files   map[string]*faultFile
	durable map[string]*faultFile // the names that the device has

	// fault is called before each operation with its name and the number of bytes it writes. It returns how many
	// bytes are written and the error; errKilled stops everything from then on.
	fault  func(op string, n int) (int, error)
	killed bool
}

type faultFile struct {
	data   []byte
	synced []byte // what the device has
}

func newFaultFS() *faultFS {
	return &faultFS{files: map[string]*faultFile{}, durable: map[string]*faultFile{}}
}

func (f *faultFS) ask(op, name string, n int) (int, error) {
	if f.killed {
		return 0, errKilled
	}
	if f.fault == nil {
		return n, nil
	}
	n, err := f.fault(op, n)
	if errors.Is(err, errKilled) {
		f.killed = true
	}
	if err != nil {
		err = &fs.PathError{Op: op, Path: name, Err: err}
	}
	return n, err
}

// restart is the machine after the process was killed; with power lost, what was
// not synced is gone but for keep(n) bytes of n, and the names are those of now
// or those of the last sync.
func (f *faultFS) restart(power bool, keep func(n int) int) {
	f.killed, f.fault = false, nil
	if !power {
		return
	}
	if keep(1) == 0 {
		f.files = maps.Clone(f.durable)
	}
	for _, name := range slices.Sorted(maps.Keys(f.files)) {
		file := f.files[name]
		same := commonPrefix(file.data, file.synced)
		if same == len(file.synced) { // appended to
			file.data = file.data[:same+keep(len(file.data)-same)]
		} else if keep(1) == 0 { // cut
			file.data = file.synced
		}
		file.synced = slices.Clone(file.data)
	}
	f.durable = maps.Clone(f.files)
}

func commonPrefix(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

func (f *faultFS) get(op, name string) (*faultFile, error) {
	file, ok := f.files[name]
	if !ok {
		return nil, &fs.PathError{Op: op, Path: name, Err: fs.ErrNotExist}
	}
	return file, nil
}

func (f *faultFS) create(name string) (outFile, error) {
	if _, err := f.ask("create", name, 0); err != nil {
		return nil, err
	}
	if f.files[name] != nil {
		return nil, &fs.PathError{Op: "create", Path: name, Err: fs.ErrExist}
	}
	f.files[name] = &faultFile{}
	return &faultOut{f, name, f.files[name]}, nil
}

func (f *faultFS) rename(from, to string) error {
	if _, err := f.ask("rename", from, 0); err != nil {
		return err
	}
	file, err := f.get("rename", from)
	if err != nil {
		return err
	}
	delete(f.files, from)
	f.files[to] = file
	return nil
}

func (f *faultFS) remove(name string) error {
	if _, err := f.ask("remove", name, 0); err != nil {
		return err
	}
	_, err := f.get("remove", name)
	delete(f.files, name)
	return err
}

func (f *faultFS) syncDir(dir string) error {
	if _, err := f.ask("syncdir", dir, 0); err != nil {
		return err
	}
	f.durable = maps.Clone(f.files) // of all directories, since tests have one
	return nil
}

type faultOut struct {
	f    *faultFS
	name string
	file *faultFile
}

func (o *faultOut) Write(p []byte) (int, error) {
	n, err := o.f.ask("write", o.name, len(p))
	o.file.data = append(o.file.data, p[:n]...)
	return n, err
}

func (o *faultOut) Sync() error {
	if _, err := o.f.ask("sync", o.name, 0); err != nil {
		return err
	}
	o.file.synced = slices.Clone(o.file.data)
	return nil
}

func (o *faultOut) Close() error {
	_, err := o.f.ask("close", o.name, 0)
	return err
}
