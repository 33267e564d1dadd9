package store

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/journal"
)

// typical is a record of 85 bytes of text, as the engine's benchmarks have.
func typical(seq uint64) journal.Record {
	r := record(2)
	r.Seq, r.Stack, r.Message = seq, "", strings.Repeat("m", 85)
	return r
}

func BenchmarkAppend(b *testing.B) {
	for _, policy := range []SyncPolicy{SyncNever, SyncBatched, SyncAppend} {
		b.Run(policy.String(), func(b *testing.B) {
			j, err := OpenJournal(JournalConfig{Dir: b.TempDir(), Epoch: "bench", Sync: policy, MaxBytes: 64 << 20})
			require.NoError(b, err)
			b.ReportAllocs()
			r := typical(0)
			for b.Loop() {
				r.Seq++
				if err := j.Append(r); err != nil {
					b.Fatal(err)
				}
			}
			b.StopTimer()
			require.Equal(b, r.Seq, j.Stats().Written)
			require.NoError(b, j.Close())
		})
	}
}

// BenchmarkDrain is for each record, of a full ring.
func BenchmarkDrain(b *testing.B) {
	for _, policy := range []SyncPolicy{SyncNever, SyncBatched} {
		b.Run(policy.String(), func(b *testing.B) {
			const ring = 32768
			j, err := OpenJournal(JournalConfig{Dir: b.TempDir(), Epoch: "bench", Sync: policy, MaxBytes: 64 << 20})
			require.NoError(b, err)
			memory, err := journal.New(journal.Config{Epoch: "bench", Entries: ring, Bytes: 8 << 20})
			require.NoError(b, err)
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if n%ring == 0 {
					b.StopTimer()
					for range ring {
						r := typical(memory.Latest() + 1)
						memory.Append(&r.Entry, r.Signature, r.Decision)
					}
					b.StartTimer()
					d, err := j.Drain(memory)
					if err != nil || d.Records != ring {
						b.Fatal(d, err)
					}
				}
				n++
			}
			b.StopTimer()
			require.NoError(b, j.Close())
		})
	}
}

// BenchmarkRead is for each page of 100 records, from the beginning to the end.
func BenchmarkRead(b *testing.B) {
	j, err := OpenJournal(JournalConfig{Dir: b.TempDir(), Epoch: "bench", Sync: SyncNever})
	require.NoError(b, err)
	const n = 100_000
	for seq := uint64(1); seq <= n; seq++ {
		require.NoError(b, j.Append(typical(seq)))
	}
	b.ReportAllocs()
	c := journal.Cursor{}
	for b.Loop() {
		p := j.Read(c, 100, journal.Filter{MinDisposition: event.Advisory})
		if len(p.Records) != 100 || p.Err != nil {
			b.Fatal(len(p.Records), p.Err)
		}
		if c = p.Next; !p.More {
			c = journal.Cursor{}
		}
	}
	require.NoError(b, j.Close())
}

// BenchmarkOpen is for each MiB that is there.
func BenchmarkOpen(b *testing.B) {
	c := JournalConfig{Dir: b.TempDir(), Epoch: "bench", Sync: SyncNever}
	j, err := OpenJournal(c)
	require.NoError(b, err)
	const n = 100_000
	for seq := uint64(1); seq <= n; seq++ {
		require.NoError(b, j.Append(typical(seq)))
	}
	b.SetBytes(j.Stats().Bytes)
	require.NoError(b, j.Close())
	for b.Loop() {
		j, err := OpenJournal(c)
		if err != nil || j.Recovery().Records != n {
			b.Fatal(err)
		}
		require.NoError(b, j.Close())
	}
}
