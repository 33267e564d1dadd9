package steer

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/heedlog/heed/internal/bounds"
)

// mode is the effect of a message on a turn in flight.
type mode string

// The modes. The empty one is ModeSteer.
const (
	ModeQueue          mode = "queue"           // waits until the turn has ended
	ModeSteer          mode = "steer"           // the agent continues its work and incorporates the message
	ModeInterrupt      mode = "interrupt"       // the message supersedes the work
	ModeOwnerInterrupt mode = "owner-interrupt" // interrupts if the author is the owner, else waits
)

// Class is the finding of a verifier about an author.
type Class string

// The classes of authors.
const (
	Stranger  Class = "stranger"
	Owner     Class = "owner"
	Sibling   Class = "sibling" // another agent of the same owner
	Attention Class = "attention"
)

// reason is why a turn is stopped.
type reason string

// The reasons, and None for a turn that is not stopped.
const (
	None            reason = "none"
	ReasonSteer     reason = "steer"
	ReasonInterrupt reason = "interrupt"
)

// Policy is the owner's choice. Its zero value steers, and has the default bounds.
type Policy struct {
	Mode mode

	// InterruptOnInvalid lets attention interrupt where the game's state is invalid (Message.Invalid), instead of steer.
	InterruptOnInvalid bool

	// CallWait is how long a stop waits for a call to the game that is in flight (default 30 s).
	CallWait time.Duration
	// SteersPerTurn and SteersPerMinute bound the stops of one turn (default 3) and of a minute (default 6). The first
	// message of an item that blocks is not counted (Message.First).
	SteersPerTurn, SteersPerMinute int
}

// Validate returns an error that names each setting at fault.
func (p Policy) Validate() error {
	_, err := p.complete()
	return err
}

// complete returns p with its defaults. The error names each setting at fault.
func (p Policy) complete() (Policy, error) {
	p.Mode = cmp.Or(p.Mode, ModeSteer)
	known := []mode{ModeQueue, ModeSteer, ModeInterrupt, ModeOwnerInterrupt}
	var errs []error
	if !slices.Contains(known, p.Mode) {
		errs = append(errs, fmt.Errorf("mode %q: must be one of %q", p.Mode, known))
	}
	errs = append(errs,
		bounds.Complete("policy", bounds.Of("call wait", &p.CallWait, DefaultCallWait, 1, 0)),
		bounds.Complete("policy", bounds.Of("steers per turn", &p.SteersPerTurn, DefaultSteersPerTurn, 1, 0)),
		bounds.Complete("policy", bounds.Of("steers per minute", &p.SteersPerMinute, DefaultSteersPerMinute, 1, 0)))
	return p, errors.Join(errs...)
}

// The defaults of a Policy.
const (
	DefaultCallWait        = 30 * time.Second
	DefaultSteersPerTurn   = 3
	DefaultSteersPerMinute = 6
)
