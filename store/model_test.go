package store

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/heedlog/heed/journal"
)

// diskModel holds a journal on a disk that fails to a plain account of what it
// said: which records it took, and what it called durable.
type diskModel struct {
	disk   *faultFS
	config JournalConfig
	j      *Journal
	memory *journal.Journal // the source to drain

	given map[uint64]bool // handed in, of this epoch

	// kept are the sequence numbers that were held when the journal was looked
	// at last, and lasting those that it also called durable.
	kept, lasting []uint64
	durable       uint64
	epochs        []string
	earlier       map[string]reading
}

// TestModel appends, drains, reads, closes, kills and cuts the power at random,
// on a disk that fails at random.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &diskModel{disk: newFaultFS(), earlier: map[string]reading{}}
		m.config = JournalConfig{
			Dir: "d", MaxText: 300, SegmentBytes: 9 << 10, MaxBytes: rapid.Int64Range(18<<10, 60<<10).Draw(t, "max"),
			Sync:        rapid.SampledFrom([]SyncPolicy{SyncBatched, SyncBatched, SyncAppend, SyncNever}).Draw(t, "policy"),
			SyncEntries: rapid.IntRange(1, 40).Draw(t, "every"), RetryEntries: 8, ReadEntries: 13, ReadBytes: 2000,
		}
		m.newEpoch(t)
		t.Repeat(map[string]func(*rapid.T){
			"append": func(t *rapid.T) {
				for range rapid.IntRange(1, 60).Draw(t, "n") {
					m.append(t, rapid.SampledFrom([]uint64{1, 1, 1, 1, 1, 1, 2, 9}).Draw(t, "jump"))
				}
			},
			"drain": func(t *rapid.T) {
				for range rapid.IntRange(0, 90).Draw(t, "n") {
					m.log()
				}
				_, err := m.j.Drain(m.memory)
				m.fine(t, err)
			},
			"sync": func(t *rapid.T) { m.fine(t, m.j.Sync()) },
			"faults": func(t *rapid.T) {
				m.disk.fault = m.faults(t)
			},
			"repair": func(*rapid.T) { m.disk.fault = nil },
			"end": func(t *rapid.T) { // one action, so that segments grow full between two
				switch rapid.SampledFrom([]string{"power", "kill", "close", "epoch"}).Draw(t, "end") {
				case "power":
					m.restart(t, true)
				case "kill":
					m.restart(t, false)
				case "close":
					m.fine(t, m.j.Close())
					m.look(t)
					m.restart(t, false)
				case "epoch":
					m.restart(t, false)
					m.look(t)
					m.earlier[m.config.Epoch] = readAll(t, m.j, journal.Cursor{}, 0)
					require.NoError(t, m.j.Close())
					m.newEpoch(t)
				}
			},
			"": func(t *rapid.T) {
				if m.disk.killed {
					m.restart(t, rapid.Bool().Draw(t, "power"))
				}
				m.look(t)
			},
		})
	})
}

func (m *diskModel) newEpoch(t *rapid.T) {
	m.config.Epoch = fmt.Sprint("run-", len(m.epochs))
	m.epochs = append(m.epochs, m.config.Epoch)
	m.given, m.kept, m.lasting, m.durable = map[uint64]bool{}, nil, nil, 0
	m.j = open(t, m.disk, m.config)
	m.newMemory(t)
}

// newMemory is the engine's ring: new in every process, and as a restored engine
// does it goes on counting.
func (m *diskModel) newMemory(t *rapid.T) {
	var err error
	m.memory, err = journal.New(journal.Config{Entries: 60, Bytes: 64 << 10, Epoch: m.config.Epoch, After: m.j.Stats().Latest})
	require.NoError(t, err)
}

// log adds an entry to the ring.
func (m *diskModel) log() {
	r := record(m.memory.Latest() + 1)
	r.Truncated = false // the ring's to say
	m.memory.Append(&r.Entry, r.Signature, r.Decision)
	m.given[r.Seq] = true
}

// append adds a record by hand, and whatever the ring has before it, so that
// both count alike.
func (m *diskModel) append(t *rapid.T, jump uint64) {
	var r journal.Record
	for range jump {
		m.log()
	}
	r, ok := m.memory.Get(m.memory.Latest())
	require.True(t, ok)
	m.fine(t, m.j.Append(r))
}

// fine accepts no error but those of the disk.
func (m *diskModel) fine(t *rapid.T, err error) {
	if err == nil || errors.Is(err, errFull) || errors.Is(err, os.ErrPermission) || errors.Is(err, errKilled) {
		return
	}
	require.NoError(t, err)
}

// faults draws how a disk fails: how often, at what, and how much of a write it
// takes.
func (m *diskModel) faults(t *rapid.T) func(string, int) (int, error) {
	ops := rapid.SampledFrom([][]string{
		{"write", "create"},
		{"sync"},
		{"remove"},
		{"truncate", "write"},
		{"close"},
		{"write", "create", "sync", "syncdir", "truncate", "remove", "close"},
	}).Draw(t, "ops")
	why := rapid.SampledFrom([]error{errFull, os.ErrPermission, errKilled}).Draw(t, "why")
	fails := rapid.SliceOfN(rapid.Bool(), 1, 8).Draw(t, "fails")
	torn := rapid.IntRange(0, 1<<12).Draw(t, "torn")
	at := 0
	return func(op string, n int) (int, error) {
		if !slices.Contains(ops, op) {
			return n, nil
		}
		if at++; fails[at%len(fails)] {
			return min(n, torn%(n+1)), why
		}
		return n, nil
	}
}

// restart ends the process and starts the next.
func (m *diskModel) restart(t *rapid.T, power bool) {
	sound := m.j.Stats().Err == nil && !m.disk.killed
	before, withdrawn := m.j.Stats().OnDisk, m.j.Stats().Withdrawn
	torn := rapid.IntRange(0, 1<<12).Draw(t, "kept of what was not synced")
	m.disk.restart(power, func(n int) int { return torn % (n + 1) })
	m.j = open(t, m.disk, m.config)
	require.NoError(t, m.j.Recovery().Err)

	after := m.j.Stats().OnDisk
	require.GreaterOrEqual(t, after, m.durable, "what was called durable is accounted for")
	if !power && sound {
		require.Equal(t, before, after, "what was written survives the process")
	}
	if power || withdrawn > 0 {
		m.kept = m.lasting
	}
	if m.config.Sync != SyncNever {
		require.Equal(t, after, m.j.DurableUpTo())
	}
	m.durable = 0 // the new process says for itself
	m.newMemory(t)
}

// look reads all, and holds it to what was given and what was kept before.
func (m *diskModel) look(t *rapid.T) {
	require.LessOrEqual(t, m.disk.bytes(), m.config.MaxBytes)
	if m.j.lock == nil {
		return
	}
	durable := m.j.DurableUpTo()
	require.GreaterOrEqual(t, durable, m.durable, "it never falls")
	m.durable = durable

	all := readAll(t, m.j, journal.Cursor{}, 0)
	held := seqs(all.records)
	for _, r := range all.records {
		require.True(t, m.given[r.Seq])
		want := record(r.Seq)
		want.Truncated = false
		require.Equal(t, want, r)
	}
	var deleted uint64
	for _, g := range all.gaps {
		if g.Cause == GapDeleted {
			deleted = g.To
		}
		if m.config.Sync != SyncNever {
			require.NotEqual(t, GapDamaged, g.Cause, "neither a kill nor a loss of power damages what is before the end")
		}
	}
	// What was held is held, unless it was deleted, or withdrawn before it was
	// durable.
	for _, seq := range m.lasting {
		_, ok := slices.BinarySearch(held, seq)
		require.True(t, ok || seq <= deleted, "%d was durable", seq)
	}
	if m.j.Stats().Withdrawn == 0 {
		for _, seq := range m.kept {
			_, ok := slices.BinarySearch(held, seq)
			require.True(t, ok || seq <= deleted, "%d was written", seq)
		}
	}
	m.kept, m.lasting = held, nil
	for _, seq := range held {
		if seq <= durable {
			m.lasting = append(m.lasting, seq)
		}
	}
	// Earlier epochs are what they were, but for what was deleted.
	for _, run := range m.j.Runs() {
		if run.Epoch == m.config.Epoch || m.config.Sync == SyncNever {
			continue
		}
		was, is := m.earlier[run.Epoch], readAll(t, m.j, journal.Cursor{Epoch: run.Epoch}, 0)
		if len(is.records) > 0 {
			require.Equal(t, was.records[len(was.records)-len(is.records):], is.records)
		}
	}
}
