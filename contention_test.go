package heed

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
)

// TestAllAtOnce lets writers, readers, acknowledgers and snapshots go on at once:
// pages account for all that they cover, every snapshot is that of an engine which
// adds up, and no update comes twice.
func TestAllAtOnce(t *testing.T) {
	cfg := snapshotConfig(mustRules(t, testRules))
	e := mustNew(t, cfg)
	const writers, each = 4, 3000
	var logging, others sync.WaitGroup
	var end atomic.Bool
	for w := range writers {
		logging.Go(func() {
			for i := range each {
				e.Log(event.Log{
					Level: event.LevelError, OperationID: fmt.Sprint("op", i/100%5),
					Message: fmt.Sprintf("Broken word%s of Name_%d in the place of that", letters(i%300), i),
				})
				if i%50 == w {
					e.Observe(event.Operation{ID: fmt.Sprint("op", i%7), Status: event.StatusStarted}.Entry())
				}
			}
		})
	}
	until := func(do func()) {
		others.Go(func() {
			for {
				last := end.Load()
				do()
				if last {
					return
				}
			}
		})
	}
	var cursor Cursor
	read := uint64(0)
	until(func() {
		page := e.Read(cursor, 20, Filter{})
		assert.NoError(t, page.Err)
		assert.Equal(t, page.Next.Seq-cursor.Seq, uint64(len(page.Records))+page.Lost)
		read += uint64(len(page.Records)) + page.Lost
		cursor = page.Next
	})
	until(func() {
		for _, u := range e.Updates(nil) {
			e.Ack("", u.Item.ID, u.Item.LatestSequence)
		}
		e.Open(nil)
	})
	received := uint64(0)
	until(func() {
		r, err := Restore(cfg, e.Snapshot(nil))
		if !assert.NoError(t, err) {
			return
		}
		s := r.Stats()
		assert.NoError(t, s.Check())
		assert.GreaterOrEqual(t, s.Received, received)
		received = s.Received
	})
	logging.Wait()
	end.Store(true)
	others.Wait()
	for cursor.Seq < e.Stats().Received {
		page := e.Read(cursor, 20, Filter{})
		read += uint64(len(page.Records)) + page.Lost
		cursor = page.Next
	}
	s := checked(t, e)
	require.Equal(t, s.Received, read)
	require.EqualValues(t, writers*(each+each/50), s.Received-s.Host)
}
