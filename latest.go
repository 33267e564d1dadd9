package heed

// Latest returns the cursor after the latest entry: a read from it yields what
// comes from now on.
func (e *Engine) Latest() Cursor {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Cursor{Epoch: e.epoch, Seq: e.seq}
}
