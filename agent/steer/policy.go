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

// dedup is the treatment of messages that arrive while a turn is in flight.
type dedup string

// The ways of deduplication. The empty one is DedupQueue.
const (
	DedupQueue dedup = "queue" // they are kept
	DedupDrop  dedup = "drop"  // they are dropped and counted
)

// admission is whose messages are accepted.
type admission string

// The admissions. The empty one is AdmitVerified.
const (
	AdmitVerified  admission = "owner-and-siblings"
	AdmitAllowlist admission = "allowlist" // the owner, siblings, and authors that a verifier returns as Allowed
	AdmitNobody    admission = "nobody"
	AdmitAnyone    admission = "anyone"
)

// Class is the finding of a verifier about an author.
type Class string

// The classes of authors.
const (
	Stranger  Class = "stranger"
	Owner     Class = "owner"
	Sibling   Class = "sibling" // another agent of the same owner
	Allowed   Class = "allowed" // on the allowlist
	Attention Class = "attention"
)

// reason is why a turn is stopped. The empty reason is ReasonSteer everywhere.
type reason string

// The reasons, and None for a turn that is not stopped.
const (
	None            reason = "none"
	ReasonSteer     reason = "steer"
	ReasonInterrupt reason = "interrupt"
)

// orSteer returns r, or ReasonSteer for the empty reason.
func (r reason) orSteer() reason { return cmp.Or(r, ReasonSteer) }

// Policy is the owner's choice. Its zero value steers, admits the owner and verified siblings, and has the default
// bounds.
type Policy struct {
	Mode  mode
	Dedup dedup
	Admit admission

	// ConfirmAnyone permits AdmitAnyone together with a mode that stops turns.
	ConfirmAnyone bool

	// InterruptOnInvalid lets attention interrupt where the game's state is invalid (Message.Invalid), instead of steer.
	InterruptOnInvalid bool

	// CallWait is how long a stop waits for a call to the game that is in flight (default 30 s).
	CallWait time.Duration
	// SteersPerTurn and SteersPerMinute bound the stops of one turn (default 3) and of a minute (default 6). The first
	// message of an item that blocks is not counted (Message.First).
	SteersPerTurn, SteersPerMinute int
	// MaxPending bounds the messages that wait (default 64).
	MaxPending int
	// Tries is how often a prompt of its own is made for a message whose delivery fails (default 3). Then it waits for
	// the next turn or result.
	Tries int
}

// Validate returns an error that names each setting at fault.
func (p Policy) Validate() error {
	_, err := p.complete()
	return err
}

// complete returns p with its defaults. The error names each setting at fault.
func (p Policy) complete() (Policy, error) {
	var errs []error
	one := func(setting, value string, known ...string) {
		if value != "" && !slices.Contains(known, value) {
			errs = append(errs, fmt.Errorf("%s %q: must be one of %q", setting, value, known))
		}
	}
	one("mode", string(p.Mode), string(ModeQueue), string(ModeSteer), string(ModeInterrupt), string(ModeOwnerInterrupt))
	one("dedup", string(p.Dedup), string(DedupQueue), string(DedupDrop))
	one("admit", string(p.Admit), string(AdmitVerified), string(AdmitAllowlist), string(AdmitNobody), string(AdmitAnyone))
	p.Mode, p.Admit = cmp.Or(p.Mode, ModeSteer), cmp.Or(p.Admit, AdmitVerified)
	if p.Dedup == DedupDrop && p.Mode != ModeQueue {
		errs = append(errs, fmt.Errorf(
			"mode %q needs dedup %q, not %q: what arrives while a turn is being canceled would be lost", p.Mode, DedupQueue, DedupDrop))
	}
	if p.Admit == AdmitAnyone && p.Mode != ModeQueue && !p.ConfirmAnyone {
		errs = append(errs, fmt.Errorf("admit %q with mode %q lets anyone stop the agent: confirm it, or use mode %q",
			AdmitAnyone, p.Mode, ModeQueue))
	}
	errs = append(errs,
		bounds.Complete("policy", bounds.Of("call wait", &p.CallWait, DefaultCallWait, 1, 0)),
		bounds.Complete("policy", bounds.Of("steers per turn", &p.SteersPerTurn, DefaultSteersPerTurn, 1, 0)),
		bounds.Complete("policy", bounds.Of("steers per minute", &p.SteersPerMinute, DefaultSteersPerMinute, 1, 0)),
		bounds.Complete("policy", bounds.Of("max pending", &p.MaxPending, 64, 1, 0)),
		bounds.Complete("policy", bounds.Of("tries", &p.Tries, 3, 1, 0)))
	return p, errors.Join(errs...)
}

// The defaults of a Policy.
const (
	DefaultCallWait        = 30 * time.Second
	DefaultSteersPerTurn   = 3
	DefaultSteersPerMinute = 6
)

// admits reports whether messages of a class are accepted.
func (p *Policy) admits(c Class) bool {
	switch c {
	case Attention:
		return true
	case Owner, Sibling:
		return p.Admit != AdmitNobody
	case Allowed:
		return p.Admit == AdmitAllowlist || p.Admit == AdmitAnyone
	default:
		return p.Admit == AdmitAnyone
	}
}

// signal returns the effect of a message of an admitted author on a turn in flight. owner reports whether the author is
// the owner.
func signal(mode mode, owner bool) reason {
	switch {
	case mode == ModeSteer || mode == "":
		return ReasonSteer
	case mode == ModeInterrupt || mode == ModeOwnerInterrupt && owner:
		return ReasonInterrupt
	}
	return None
}
