package coalesce

import (
	"slices"

	"github.com/heedlog/heed/internal/text"
)

const (
	maxPhases = 64 // that are known to have followed each other
	maxPhase  = 64 // bytes of a name
)

// phases are those of the urgent entries, the latest last. Where there were more, the earliest are not known any more.
type phases []phase

// phase is that of the urgent entries from seq on, until the next one.
type phase struct {
	Seq  uint64
	Name string
}

// see notes the phase of an urgent entry.
func (p *phases) see(seq uint64, name string) {
	name = name[:text.Prefix(name, maxPhase)]
	if n := len(*p); n > 0 && (*p)[n-1].Name == name {
		return
	}
	if len(*p) == maxPhases {
		*p = append((*p)[:0], (*p)[1:]...)
	}
	*p = append(*p, phase{seq, name})
}

// at returns the phase of the urgent entry with a number, "" where it is not known.
func (p phases) at(seq uint64) string {
	for i := range slices.Backward(p) {
		if p[i].Seq <= seq {
			return p[i].Name
		}
	}
	return ""
}
