package store

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/journal"
)

// FuzzRecord gives the decoder payloads whose checksum would be right.
func FuzzRecord(f *testing.F) {
	for seq := range uint64(24) {
		r := record(seq + 1)
		b, _ := appendRecord(nil, &r, 1000)
		f.Add(b)
	}
	f.Add(appendGap(nil, Gap{After: 3, To: 9, Cause: GapFailed}))
	f.Add([]byte{kindRecord, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 0, 0, 0, 0, 0, 0, 0xff, 0x07})
	f.Fuzz(func(t *testing.T, payload []byte) {
		sp, spanErr := decodeSpan(payload)
		r, err := decodeRecord(payload)
		if err != nil {
			return
		}
		require.NoError(t, spanErr)
		require.Equal(t, span{after: r.Seq - 1, to: r.Seq}, sp)
		b, cut := appendRecord(nil, &r, len(payload))
		if !cut {
			again, err := decodeRecord(b)
			require.NoError(t, err)
			require.Equal(t, r, again)
		}
	})
}

// FuzzSegment gives the journal a segment of any bytes, as they are and behind a
// right header.
func FuzzSegment(f *testing.F) {
	disk := newFaultFS()
	j := open(f, disk, JournalConfig{})
	for _, seq := range []uint64{1, 2, 9} {
		require.NoError(f, j.Append(record(seq)))
	}
	whole := disk.files[j.path(j.active)].data
	f.Add(whole)
	f.Add(whole[segmentHeader:])
	f.Add(whole[segmentHeader+20:])
	f.Add([]byte("\x04\x00\x00\x00\x00\x00\x00\x00\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, data := range [][]byte{data, slices.Concat(whole[:segmentHeader], data), seal(data)} {
			disk := newFaultFS()
			disk.files[filepath.Join("d", segmentName(7))] = &faultFile{data: slices.Clone(data)}
			disk.files[filepath.Join("d", segmentName(8))] = &faultFile{data: slices.Clone(whole)}
			j, err := openJournal(disk, JournalConfig{Dir: "d", Epoch: "run-1"})
			if err != nil {
				require.ErrorIs(t, err, ErrVersion)
				continue
			}
			for _, run := range j.Runs() {
				readAll(t, j, journal.Cursor{Epoch: run.Epoch}, 2)
			}
			latest := j.Stats().Latest
			require.NoError(t, j.Append(record(latest+1)))
			require.Contains(t, seqs(readAll(t, j, journal.Cursor{}, 0).records), latest+1)
		}
	})
}

// seal makes a segment of payloads, each a length and so many bytes.
func seal(data []byte) []byte {
	s := segment{epoch: "run-0", first: 1}
	b := s.appendHeader(nil)
	for len(data) > 0 {
		n := min(int(data[0]), len(data)-1)
		at := len(b)
		b = append(openFrame(b), data[1:1+n]...)
		s.closeFrame(b, at)
		data = data[1+n:]
	}
	return b
}
