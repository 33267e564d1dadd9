package journal

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/signature"
)

func TestFirstsSurviveAStorm(t *testing.T) {
	j := newJournal(t, Config{Entries: 3, Firsts: 4, FirstsPerBurst: 2}, 0)
	for range 4 {
		write(j, 1)
		j.KeepFirst(1)
	}
	require.Equal(t, uint64(2), j.Stats().OverQuota)
	write(j, 1000)
	require.Equal(t, []uint64{1, 2, 1002, 1003, 1004}, heldSeqs(t, j))
	require.Equal(t, uint64(1), j.Stats().Oldest)
}

func TestKeepFirst(t *testing.T) {
	j := newJournal(t, Config{Firsts: 2, FirstsPerBurst: 9}, 0)
	require.False(t, j.KeepFirst(1), "nothing was appended")
	write(j, 1)
	require.True(t, j.KeepFirst(1))
	require.True(t, j.KeepFirst(1), "again")
	require.True(t, j.KeepFirst(2), "for another burst")
	require.Equal(t, 1, j.Stats().Firsts.Entries)

	require.False(t, newJournal(t, Config{After: 3}, 0).KeepFirst(1), "what was written before is not here")
}

func TestFullFirstsRefuseUnlessABurstWasReleased(t *testing.T) {
	j := newJournal(t, Config{Entries: 1, Firsts: 4, FirstsPerBurst: 2}, 0)
	for burst := range uint64(2) {
		for range 2 {
			write(j, 1)
			require.True(t, j.KeepFirst(burst))
		}
	}
	write(j, 1)
	require.False(t, j.KeepFirst(2), "both bursts are open")
	require.Equal(t, uint64(1), j.Stats().Firsts.Refused)
	require.Equal(t, []uint64{1, 2, 3, 4, 5}, heldSeqs(t, j))

	// Released bursts go in the order of their release, their entries oldest
	// first, and only when their place is needed.
	j.Release(1)
	j.Release(0)
	j.Release(7)
	require.Equal(t, []uint64{1, 2, 3, 4, 5}, heldSeqs(t, j))
	for _, want := range [][]uint64{{1, 2, 4, 6}, {1, 2, 6, 7}, {2, 6, 7, 8}, {6, 7, 8, 9}} {
		write(j, 1)
		require.True(t, j.KeepFirst(j.Latest()))
		require.Equal(t, want, heldSeqs(t, j))
	}
	require.Equal(t, uint64(4), j.Stats().Firsts.Evicted)
	write(j, 1)
	require.False(t, j.KeepFirst(99))
}

func TestReleasedBurstsDoNotStarveNewOnes(t *testing.T) {
	j := newJournal(t, Config{Entries: 8, Firsts: 8, FirstsPerBurst: 4}, 0)
	for burst := range uint64(10_000) {
		for range 4 {
			write(j, 1)
			require.True(t, j.KeepFirst(burst))
		}
		j.Release(burst)
	}
	require.NoError(t, j.valid())
	require.Zero(t, j.Stats().Firsts.Refused)
}

func TestAReleasedNumberIsANewBurst(t *testing.T) {
	j := newJournal(t, Config{Entries: 1, Firsts: 2, FirstsPerBurst: 1}, 1)
	require.True(t, j.KeepFirst(5))
	write(j, 1)
	require.False(t, j.KeepFirst(5))
	j.Release(5)
	require.True(t, j.KeepFirst(5))
	require.Equal(t, []uint64{1, 2}, heldSeqs(t, j))
}

// An entry that would not fit even in the place of all released ones displaces
// none of them.
func TestRefusedFirstDisplacesNothing(t *testing.T) {
	j := newJournal(t, Config{Firsts: 4, FirstsBytes: 100, FirstsPerBurst: 4}, 1)
	require.True(t, j.KeepFirst(1))
	j.Release(1)
	write(j, 1)
	require.True(t, j.KeepFirst(2))
	j.Append(&event.Entry{Seq: 3, Message: string(make([]byte, 101))}, signature.Signature{}, event.Decision{})
	require.False(t, j.KeepFirst(3))
	require.Zero(t, j.Stats().Firsts.Evicted)
	require.Equal(t, 2, j.Stats().Firsts.Entries)
}

func TestPinKeepsNeighbors(t *testing.T) {
	j := newJournal(t, Config{Entries: 10}, 50)
	require.True(t, j.Pin(1, 48, 3))
	write(j, 100)
	require.Equal(t, []uint64{45, 46, 47, 48, 49, 50, 51}, heldSeqs(t, j)[:7])
	require.Equal(t, 7+10, len(heldSeqs(t, j)))
	require.Equal(t, uint64(45), j.Stats().Oldest)

	j.Unpin(1)
	require.Equal(t, 10, len(heldSeqs(t, j)))
	require.Zero(t, j.Stats().Pins)
}

func TestPinRefuses(t *testing.T) {
	j := newJournal(t, Config{Entries: 2, Pinned: 2}, 10)
	for i, seq := range []uint64{0, 8, 11, 1<<64 - 1} {
		require.False(t, j.Pin(1, seq, 1), "%d is not held", seq)
		require.Equal(t, uint64(i+1), j.Stats().Pinned.Refused)
	}
	require.True(t, j.Pin(1, 9, 0))
	require.True(t, j.Pin(2, 10, 5))
	require.Zero(t, j.Stats().RefusedNeighbors, "9 is pinned already, 8 is lost")
	write(j, 1)
	require.Equal(t, uint64(1), j.Stats().RefusedNeighbors, "11 came, and has no room")
	require.False(t, j.Pin(3, 11, 0), "full")
	require.False(t, j.Pin(3, 10, 0), "as many pins as there may be")
	require.Equal(t, []uint64{9, 10, 11}, heldSeqs(t, j))
}

func TestPinWithoutNeighbors(t *testing.T) {
	for _, n := range []int{0, -1, -1 << 62} {
		j := newJournal(t, Config{Entries: 2}, 2)
		require.True(t, j.Pin(1, 2, n))
		write(j, 5)
		require.Equal(t, []uint64{2, 6, 7}, heldSeqs(t, j))
	}
	j := newJournal(t, Config{Entries: 2}, 1)
	require.True(t, j.Pin(1, 1, 1<<62))
	write(j, defaultPinned+10)
	require.Equal(t, defaultPinned, j.Stats().Pinned.Entries)
	require.Equal(t, uint64(1), j.Stats().RefusedNeighbors)
}

func TestSharedEntriesStayUntilTheLastOwnerLetsGo(t *testing.T) {
	j := newJournal(t, Config{Entries: 1}, 0)
	write(j, 1)
	j.Pin(1, 1, 2)
	write(j, 2)
	j.Pin(2, 3, 1)
	write(j, 5)
	require.Equal(t, []uint64{1, 2, 3, 4, 8}, heldSeqs(t, j))
	j.Unpin(1)
	require.Equal(t, []uint64{2, 3, 4, 8}, heldSeqs(t, j))
	j.Unpin(1)
	j.Unpin(2)
	require.Equal(t, []uint64{8}, heldSeqs(t, j))
}

func TestSecondPinWidensTheFirst(t *testing.T) {
	j := newJournal(t, Config{Entries: 10}, 10)
	j.Pin(1, 5, 0)
	j.Pin(1, 5, 2)
	j.Pin(1, 5, 1)
	require.Equal(t, 1, j.Stats().Pins)
	require.Equal(t, 5, j.Stats().Pinned.Entries)
	j.Pin(1, 9, 0)
	require.Equal(t, 6, j.Stats().Pinned.Entries)
	j.Unpin(2)
	require.Equal(t, 6, j.Stats().Pinned.Entries)
	j.Unpin(1)
	require.Zero(t, j.Stats().Pinned.Entries)
}

// A pin that was taken back no longer waits for neighbors.
func TestReleaseEndsTheWait(t *testing.T) {
	j := newJournal(t, Config{Entries: 1}, 1)
	j.Pin(1, 1, 100)
	j.Pin(2, 1, 2)
	j.Unpin(1)
	write(j, 50)
	require.Equal(t, []uint64{1, 2, 3, 51}, heldSeqs(t, j))
}

// What only the firsts still hold can be pinned.
func TestPinFromTheFirsts(t *testing.T) {
	j := newJournal(t, Config{Entries: 1, Firsts: 1}, 0)
	j.Append(&event.Entry{Seq: 1, Message: string(make([]byte, 384))}, signature.Signature{},
		event.Decision{Rule: "r"})
	j.KeepFirst(1)
	write(j, 1)
	want, _ := j.get(1)
	require.True(t, j.Pin(1, 1, 0))
	j.Release(1)
	j.KeepFirst(2)
	require.Equal(t, uint64(1), j.Stats().Firsts.Evicted)
	got, ok := j.get(1)
	require.True(t, ok)
	require.Equal(t, want, got)
}

// A reader that pages along during a storm meets each entry at most once, in
// order, and its entries and losses add up.
func TestPagingDuringAStorm(t *testing.T) {
	for _, limit := range []int{1, 2, 7, 50} {
		j := newJournal(t, Config{Entries: 20, Firsts: 10, FirstsPerBurst: 3, Pinned: 10, ReadEntries: 30}, 0)
		var c Cursor
		var read, lost, last uint64
		for round := range uint64(2000) {
			write(j, int(round%(2*uint64(limit)+3)))
			switch round % 5 {
			case 0:
				j.KeepFirst(round % 4)
			case 1:
				j.Pin(round%3, j.Latest(), 2)
			case 2:
				j.Release(round % 4)
			case 3:
				j.Unpin(round % 3)
			}
			p := j.Read(c, limit, Filter{})
			for _, r := range p.Records {
				require.Greater(t, r.Seq, last)
				last = r.Seq
			}
			read += uint64(len(p.Records))
			lost += p.Lost
			c = p.Next
			require.Equal(t, c.Seq, read+lost)
		}
		require.NoError(t, j.valid())
		require.NotZero(t, lost)
	}
}
