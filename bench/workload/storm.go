package workload

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// Mode is a kind of storm.
type Mode string

// The modes of a [Storm].
const (
	// Same repeats one line.
	Same Mode = "same"
	// IDs draws from twenty templates with changing ids and coordinates.
	IDs Mode = "ids"
	// Distinct makes lines of 4 to 12 words of letters alone that share
	// nothing: every line is a template of its own.
	Distinct Mode = "distinct"
	// Mixed is eight parts IDs, one part Same and one part Distinct.
	Mixed Mode = "mixed"
)

// Modes lists every mode.
func Modes() []Mode { return []Mode{Same, IDs, Distinct, Mixed} }

// ParseMode finds the mode called s.
func ParseMode(s string) (Mode, error) {
	if m := Mode(s); slices.Contains(Modes(), m) {
		return m, nil
	}
	return "", fmt.Errorf("workload: unknown mode %q: want same, ids, distinct or mixed", s)
}

// templates are the shapes of the lines of the IDs storm. %d is an id, %v a vector, %x an address and %f a measure.
var templates = [...]string{
	"Exception ticking Muffalo%d (at %v). Suppressing further errors.",
	"Could not reserve Thing_Wall%d for Colonist%d for job HaulToContainer",
	"Tried to spawn Larva%d in a null map.",
	"Pawn Raider%d has no valid path to %v from %v",
	"Failed to load region link at %v, rebuilding %d cells",
	"JobDriver threw exception in toil for pawn Drone%d at %v",
	"Lord_%d has an owned pawn Human%d which is not spawned",
	"Hediff on Thrumbo%d refers to a missing part",
	"Room %d has a negative temperature delta of %f",
	"Null verb in tracker of Turret_Gun%d",
	"Reservation of Plant_Potato%d by Human%d was never released",
	"Native block at 0x%x was freed twice",
	"Projectile Bullet_%d left the map at %v",
	"Power net %d stores %f of %f units",
	"Could not resolve reference to object with loadID Thing_Meal%d",
	"Fire%d spread to a cell out of bounds at %v",
	"Zone %d overlaps zone %d at %v",
	"Caravan_%d arrived with %d pawns and no leader",
	"Weather overlay %d was drawn outside of its %f second window",
	"Duplicate key Precept_%d while loading an ideology",
}

// Templates is how many shapes the IDs storm has.
const Templates = len(templates)

// Storm makes lines.
type Storm struct {
	mode Mode
	rnd  *rand.Rand
	buf  []byte
	n    int
}

// Uncaught ends a message that blocks. At the beginning of many messages it would make one group of them.
const Uncaught = ": Unhandled exception in it"

// NewStorm returns a storm of the given mode.
func NewStorm(mode Mode, seed uint64) *Storm {
	return &Storm{mode: mode, rnd: rand.New(rand.NewPCG(seed, uint64(len(mode)))), buf: make([]byte, 0, 256)}
}

// Next returns the next line, valid until the call after.
func (s *Storm) Next() []byte {
	s.buf = s.buf[:0]
	mode := s.mode
	if mode == Mixed {
		switch s.n % 10 {
		case 3:
			mode = Same
		case 7:
			mode = Distinct
		default:
			mode = IDs
		}
	}
	s.n++
	switch mode {
	case Same:
		s.buf = append(s.buf, "Could not do a full tick of the map component: object reference not set to an instance"...)
	case Distinct:
		s.distinct()
	default:
		s.fill(templates[s.rnd.IntN(Templates)])
	}
	return s.buf
}

// Strings returns the next n lines as strings of their own.
func (s *Storm) Strings(n int) []string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = string(s.Next())
	}
	return lines
}

func (s *Storm) fill(template string) {
	for {
		i := strings.IndexByte(template, '%')
		if i < 0 {
			s.buf = append(s.buf, template...)
			return
		}
		s.buf = append(s.buf, template[:i]...)
		switch template[i+1] {
		case 'd':
			s.buf = strconv.AppendInt(s.buf, s.rnd.Int64N(100_000_000), 10)
		case 'v':
			s.buf = fmt.Appendf(s.buf, "(%d, 0, %d)", s.rnd.IntN(400), s.rnd.IntN(400))
		case 'x':
			s.buf = strconv.AppendUint(s.buf, s.rnd.Uint64(), 16)
		case 'f':
			s.buf = strconv.AppendFloat(s.buf, s.rnd.Float64()*1000, 'f', 2, 64)
		default:
			panic("BUG: workload: unknown verb in template")
		}
		template = template[i+2:]
	}
}

func (s *Storm) distinct() {
	for i := range 4 + s.rnd.IntN(9) {
		if i > 0 {
			s.buf = append(s.buf, ' ')
		}
		for range 5 + s.rnd.IntN(6) {
			s.buf = append(s.buf, byte('a'+s.rnd.IntN(26)))
		}
	}
}
