package signature

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/heedlog/heed/internal/bounds"
)

// defaultMaxFrames is how many frames of a stack count if [Config] does not
// say.
const defaultMaxFrames = 8

// Config holds the settings of a normalizer that differ between hosts. The zero
// value is the default.
type Config struct {
	// Protect lists words that are never masked, compared exactly, such as
	// "2D" or "H2O". A word that is not one token of the text has no effect.
	Protect []string

	// LoggerFrames lists prefixes of frames, in their canonical form, that
	// belong to the logger itself and do not count. A nil slice means
	// [DefaultLoggerFrames], an empty one for none. An empty prefix is an error.
	LoggerFrames []string

	// MaxFrames is how many frames count, from the innermost. Zero means 8;
	// negative is an error.
	MaxFrames int
}

// DefaultLoggerFrames returns the prefixes of the logging of the Unity engine and of the means of .NET and Go to take a
// stack. Rule files of a game add the game's own logger.
func DefaultLoggerFrames() []string {
	return []string{
		"UnityEngine.StackTraceUtility.",
		"UnityEngine.Debug.",
		"UnityEngine.DebugLogHandler.",
		"UnityEngine.Logger.",
		"System.Environment.get_StackTrace",
		"System.Environment.GetStackTrace",
		"System.Diagnostics.StackTrace.",
		"runtime/debug.",
	}
}

// Normalizer computes templates, ids and keys. It is immutable and safe for
// concurrent use.
type Normalizer struct {
	words      *words
	digitWords []string
	loggers    [256][]string // by the first byte of a frame: the prefixes that its canonical name may have
	maxFrames  int
	version    uint64
}

// New returns a Normalizer. An error names the field of c that is wrong.
func New(c Config) (*Normalizer, error) {
	err := bounds.Complete("signature: Config", bounds.Of("MaxFrames", &c.MaxFrames, defaultMaxFrames, 1, 0))
	if err != nil {
		return nil, err
	}
	n := &Normalizer{words: newWords(wellKnown, c.Protect), maxFrames: c.MaxFrames}
	n.digitWords = digitWords(wellKnown, c.Protect)
	loggers := c.LoggerFrames
	if loggers == nil {
		loggers = DefaultLoggerFrames()
	}
	var canonical []string
	separators := strings.NewReplacer("::", "::", ":", ".", "+", "/")
	for _, l := range loggers {
		// In the form of frames, so that it can be copied from a log.
		if l = separators.Replace(strings.TrimPrefix(trim(l), "at ")); l == "" {
			return nil, fmt.Errorf("signature: Config.LoggerFrames holds an empty prefix, which every frame has")
		}
		canonical = append(canonical, l)
		n.loggers[l[0]] = append(n.loggers[l[0]], l)
	}
	for b := range n.loggers {
		if !isLetter(byte(b)) || b == 'D' || b == 'M' { // [skipGenerator] may leave out what begins so
			n.loggers[b] = canonical
		}
	}
	n.version = n.hashConfig(c.Protect, canonical)
	return n, nil
}

// hashConfig returns the hash of everything that ids depend on.
func (n *Normalizer) hashConfig(protect, loggers []string) uint64 {
	var b strings.Builder
	fmt.Fprintf(&b, "%d\n%d\n", Version, n.maxFrames)
	for _, list := range [][]string{protect, loggers} {
		list = slices.Clone(list)
		slices.Sort(list)
		for _, s := range slices.Compact(list) {
			fmt.Fprintf(&b, "%q\n", s)
		}
		b.WriteByte('\n')
	}
	return xxhash.Sum64String(b.String())
}

// Version identifies the masking: it changes with [Version] and with any part of the
// Config that ids depend on. Stored ids and templates are comparable with the ids and
// templates of n exactly if their Version is equal.
func (n *Normalizer) Version() uint64 { return n.version }

// Key returns the key of an entry with this message and stack, in one pass
// over them and without building the template. It does not allocate.
func (n *Normalizer) Key(message, stack string) Key {
	h := newHasher()
	var sc scanner
	rest := sc.start(n, message)
	for p := pieceMask; p != pieceEnd; {
		p = sc.next()
		switch h = h.text(sc.s, sc.from, sc.to); p {
		case pieceSpace:
			h = h.add(' ', 8)
		case pieceMask:
			h = h.end(endMask)
		}
	}
	h = h.end(endLine)
	if rest != "" || stack != "" {
		h = n.hashFrames(h, rest, stack)
	}
	return h.sum()
}

// hashFrames lets h take the frames that count. It is a function of its own so that lines without frames do not pay for
// its structures.
func (n *Normalizer) hashFrames(h hasher, rest, stack string) hasher {
	frames := n.frames(rest, stack)
	frames.hash = h
	for frames.next() {
	}
	return frames.hash
}

// AppendTemplate appends the canonical template of an entry with this message
// and stack to dst and returns it. It allocates only if dst is too small; the
// template is at most three times as long as message and stack, and mostly
// much shorter.
func (n *Normalizer) AppendTemplate(dst []byte, message, stack string) []byte {
	var sc scanner
	rest := sc.start(n, message)
	for p := pieceMask; p != pieceEnd; {
		p = sc.next()
		dst = append(append(dst, sc.s[sc.from:sc.to]...), pieceTexts[p]...)
	}
	frames := n.frames(rest, stack)
	for frames.next() {
		dst = append(dst, "\nat "...)
		dst = frames.frame.appendName(dst)
	}
	return dst
}

// Signature returns the signature of an entry with this message and stack. It
// builds the template, and allocates only if that has more than 1,024 bytes;
// callers that need both should build it once and use [Of].
func (n *Normalizer) Signature(message, stack string) Signature {
	var buf [1024]byte
	return Of(n.AppendTemplate(buf[:0], message, stack))
}

// Origin returns a hash of the innermost frame of an entry with this message and stack that does not belong to the
// logger, 0 for none.
func (n *Normalizer) Origin(message, stack string) uint64 {
	if _, rest, _ := strings.Cut(stack, "at "); strings.HasPrefix(rest, "<0x") { // code without a name
		return xxhash.Sum64String(rest[:strings.IndexByte(rest+"+", '+')])
	}
	var sc scanner
	frames := n.frames(sc.start(n, message), stack)
	if frames.next() {
		return xxhash.Sum64(frames.frame.appendName(nil))
	}
	return 0
}
