package event

import (
	"fmt"
	"slices"
)

// name returns names[v], or "kind(v)" for a value that has no name, so that
// String methods are total.
func name(kind string, names []string, v uint8) string {
	if int(v) < len(names) {
		return names[v]
	}
	return fmt.Sprintf("%s(%d)", kind, v)
}

type enum interface {
	Level | Severity | Disposition | Kind | Status
}

func (Level) names() []string       { return levelNames }
func (Severity) names() []string    { return severityNames }
func (Disposition) names() []string { return dispositionNames }
func (Kind) names() []string        { return kindNames }
func (Status) names() []string      { return statusNames }

// Parse returns the value of an enumeration by its name: the inverse of String.
func Parse[E enum](s string) (E, bool) {
	i := slices.Index(any(E(0)).(interface{ names() []string }).names(), s)
	return E(max(i, 0)), i >= 0
}

// Level is the weight that the source of a log record gave it. [LevelUnknown], the zero
// value, means that there was no evidence; it is not the same as [LevelInfo].
type Level uint8

// Levels, by rising weight.
const (
	LevelUnknown Level = iota
	LevelDebug
	LevelInfo
	LevelWarning
	LevelError
	LevelFatal
)

var levelNames = []string{"unknown", "debug", "info", "warning", "error", "fatal"}

// String returns the lower-case name used in rules and output.
func (l Level) String() string { return name("level", levelNames, uint8(l)) }

// Severity returns the severity of a record of this level that no rule matches: warning,
// error and fatal keep their name, all else is info.
func (l Level) Severity() Severity {
	switch l {
	case LevelWarning:
		return SeverityWarning
	case LevelError:
		return SeverityError
	case LevelFatal:
		return SeverityFatal
	}
	return SeverityInfo
}

// Severity is the weight of an attention item, in the words of GABP.
type Severity uint8

// Severities, by rising weight.
const (
	SeverityInfo Severity = iota
	SeverityWarning
	SeverityError
	SeverityFatal
)

var severityNames = []string{"info", "warning", "error", "fatal"}

// String returns the lower-case name used in rules, output and GABP.
func (s Severity) String() string { return name("severity", severityNames, uint8(s)) }

// Disposition is the demand of an entry on an agent that acts on the game.
type Disposition uint8

// Dispositions, by rising urgency.
const (
	Ignore   Disposition = iota // journal only
	Advisory                    // worth knowing; holds no call back
	Blocking                    // look before you act again
)

var dispositionNames = []string{"ignore", "advisory", "blocking"}

// String returns the lower-case name used in rules and output.
func (d Disposition) String() string { return name("disposition", dispositionNames, uint8(d)) }

// Urgent reports whether d is anything but [Ignore].
func (d Disposition) Urgent() bool { return d != Ignore }

// Kind is the kind of an [Entry].
type Kind uint8

// Kinds of entries.
const (
	KindLog Kind = iota
	KindOperation
	KindState
	KindNotice
	KindHost // acts of the host on attention; rules do not apply
)

var kindNames = []string{"log", "operation", "state", "notice", "host"}

// String returns the lower-case name used in rules and output.
func (k Kind) String() string { return name("kind", kindNames, uint8(k)) }

// Status is the event of an entry's subject. The zero value belongs to log records; every other value belongs to
// exactly one [Kind], which [Status.Kind] returns.
type Status uint8

// Statuses.
const (
	StatusNone Status = iota

	StatusStarted   // an operation began
	StatusCompleted // an operation ended well
	StatusFailed    // an operation ended with an error that its caller received
	StatusCancelled // an operation was stopped before its end
	StatusTimedOut  // how an operation ended is unknown

	StatusPhase        // the game entered another phase
	StatusStall        // the game stopped answering
	StatusRecovered    // the game answers again
	StatusDisconnected // the connection to the game was lost
	StatusConnected    // the connection to the game is there (again)
	StatusExited       // the game's process ended
	StatusLongEvent    // the game began something during which it cannot answer
	StatusLongEventEnd // ... and came back

	StatusHole      // bytes are missing from the log
	StatusRunCut    // the game stopped writing repeats of a record: counts are lower bounds
	StatusTruncated // the log ends in the middle of a record
	StatusRestarted // another run of the game begins in the log
	StatusNoLog     // there is no log to read: none was found, or it is not there
	StatusLogFound  // the log is there, and is read

	StatusRaised       // the host raised an item
	StatusWithdrawn    // the host ended an item
	StatusAcknowledged // a consumer acknowledged an item
	StatusAttached     // a consumer arrived
	StatusStateRead    // the game's state was read again
	StatusDelivered    // an item was delivered to a consumer
)

var statusNames = []string{
	"none",
	"started", "completed", "failed", "cancelled", "timed_out",
	"phase", "stall", "recovered", "disconnected", "connected", "exited", "long_event", "long_event_end",
	"hole", "run_cut", "truncated", "restarted", "no_log", "log_found",
	"raised", "withdrawn", "acknowledged", "attached", "state_read", "delivered",
}

// String returns the lower-case name used in rules and output.
func (s Status) String() string { return name("status", statusNames, uint8(s)) }

// Kind returns the kind of entry that s belongs to.
func (s Status) Kind() Kind {
	switch {
	case s >= StatusRaised:
		return KindHost
	case s >= StatusHole:
		return KindNotice
	case s >= StatusPhase:
		return KindState
	case s >= StatusStarted:
		return KindOperation
	}
	return KindLog
}

// Ended reports whether s ends an operation.
func (s Status) Ended() bool { return s >= StatusCompleted && s <= StatusTimedOut }

// MarshalText returns the name, for JSON and other encodings.
func (l Level) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// UnmarshalText is the inverse of MarshalText. An unknown name is an error.
func (l *Level) UnmarshalText(name []byte) error { return unmarshal(l, "level", name) }

// MarshalText returns the name, for JSON and other encodings.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText. An unknown name is an error.
func (s *Severity) UnmarshalText(name []byte) error { return unmarshal(s, "severity", name) }

// MarshalText returns the name, for JSON and other encodings.
func (d Disposition) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText is the inverse of MarshalText. An unknown name is an error.
func (d *Disposition) UnmarshalText(name []byte) error { return unmarshal(d, "disposition", name) }

// MarshalText returns the name, for JSON and other encodings.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText is the inverse of MarshalText. An unknown name is an error.
func (k *Kind) UnmarshalText(name []byte) error { return unmarshal(k, "kind", name) }

// MarshalText returns the name, for JSON and other encodings.
func (s Status) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is the inverse of MarshalText. An unknown name is an error.
func (s *Status) UnmarshalText(name []byte) error { return unmarshal(s, "status", name) }

func unmarshal[E enum](dst *E, kind string, name []byte) error {
	v, ok := Parse[E](string(name))
	if !ok {
		return fmt.Errorf("event: unknown %s %.40q", kind, name)
	}
	*dst = v
	return nil
}
