package follow

import (
	"path/filepath"
	"sync"

	"github.com/fsnotify/fsnotify"
)

// watch returns a channel with a value when the operating system notifies of a change to the file at path, until stop
// is called. It watches the folder, and so a file that is created or replaces another. The channel is closed when the
// watch ends by itself, as with the folder. With an error there are no notifications.
func watch(path string) (changes <-chan struct{}, stop func(), err error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, nil, err
	}
	dir, base := filepath.Dir(path), filepath.Base(path)
	if err := w.Add(dir); err != nil {
		_ = w.Close() // never used
		return nil, nil, err
	}
	c := make(chan struct{}, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(c)
		for {
			select {
			case e, ok := <-w.Events:
				switch {
				case !ok, e.Name == dir && e.Has(fsnotify.Remove|fsnotify.Rename):
					return
				case filepath.Base(e.Name) != base:
					continue
				}
			case _, ok := <-w.Errors: // too many events at once, as a rule: look
				if !ok {
					return
				}
			}
			select {
			case c <- struct{}{}:
			default: // one is enough
			}
		}
	})
	return c, func() {
		_ = w.Close() // nothing can be done about it
		wg.Wait()
	}, nil
}
