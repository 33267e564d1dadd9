package heed

import (
	"github.com/heedlog/heed/coalesce"
	"github.com/heedlog/heed/journal"
	"github.com/heedlog/heed/rules"
	"github.com/heedlog/heed/signature"
)

// Config sets up an [Engine]. The zero Config is all defaults. Each part is
// documented, with its defaults, where it belongs.
type Config struct {
	// Rules decides what deserves attention. Default: the embedded rules,
	// [rules.Defaults]; a set of no files decides by level and status alone.
	Rules *rules.Set

	// Family is the family of the log, of docs/rules.md: rule files for other families then have no
	// effect. "plain" is for a program that is no game. Default "": the files of all families decide.
	Family string

	// Epoch distinguishes the runs of a host: it is part of attention ids and of
	// cursors. At most 64 bytes of letters, digits, '.', '_' and '-'. Default
	// "0", which is only right for a replay. [Restore] continues the epoch of the
	// snapshot.
	Epoch string

	// MaxText bounds the bytes of an entry's message, of its stack and of its source. The rest of a longer text has no
	// part in signature, decision and blame, so that no entry holds the lock of the engine for more than some
	// milliseconds; the journal marks the record as truncated. At least 32 KiB, and twice Journal.MaxText. Default
	// 64 KiB, or twice Journal.MaxText if that is more.
	MaxText int

	// Signatures bounds the signatures that are known, and the decisions that are cached. Default 65,536 each.
	Signatures int

	// Groups bounds the learning of groups of signatures.
	Groups signature.GrouperConfig

	// InitialPhase is the phase that the first entry sees. Default "".
	InitialPhase string

	// LoadPhase is the phase at whose beginning the game's state is loaded again, so
	// that an earlier invalidation does not concern a consumer that attaches later.
	// Default "load".
	LoadPhase string

	// Journal sets the budgets of the journal. Its Epoch is taken from above. Its After is the latest sequence number that
	// was given out in the epoch before, so that it is not given again; see [Restore].
	Journal journal.Config

	// Coalesce sets the bounds and windows of attention. Its Epoch is taken
	// from above.
	Coalesce coalesce.Config
}
