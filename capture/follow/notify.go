package follow

import (
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// watch calls poke when the operating system notifies of a change to the file at path,
// until stop is called. It watches the folder, and so a file that is created or replaces
// another. When it ends by itself, as with the folder, it calls ended. With an error there
// are no notifications.
func watch(path string, poke, ended func()) (stop func(), err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	dir := filepath.Dir(path)
	if err := w.Add(dir); err != nil {
		_ = w.Close() // never used
		return nil, err
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		base := filepath.Base(path)
		for {
			select {
			case e, ok := <-w.Events:
				if !ok {
					return
				}
				if filepath.Base(e.Name) == base {
					poke()
				} else if e.Name == dir && e.Has(fsnotify.Remove|fsnotify.Rename) {
					ended()
				}
			case _, ok := <-w.Errors: // too many events at once, as a rule: look
				if !ok {
					return
				}
				poke()
			}
		}
	})
	return func() {
		_ = w.Close() // nothing can be done about it
		wg.Wait()
	}, nil
}
