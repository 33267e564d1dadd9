package session

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"sync/atomic"
	"time"

	"github.com/heedlog/heed/internal/files"
	"github.com/heedlog/heed/rules"
)

// RuleFile is a rule file as it was read last.
type RuleFile struct {
	Name    string    `json:"name" jsonschema:"The file."`
	Bytes   int       `json:"bytes" jsonschema:"Its size."`
	Hash    string    `json:"hash" jsonschema:"Its version: the first 16 digits of the SHA-256."`
	Changed time.Time `json:"changed,omitzero" jsonschema:"When it changed."`
}

// RuleStatus describes the rules in use, and the errors of the files that should replace them.
type RuleStatus struct {
	Rules   int        `json:"rules" jsonschema:"How many rules are in use."`
	Hash    string     `json:"hash" jsonschema:"Version of the rules in use: of the names and texts of all files."`
	Since   time.Time  `json:"since,omitzero" jsonschema:"Since when they are in use."`
	Swaps   uint64     `json:"swaps" jsonschema:"How often the rules were replaced."`
	Files   []RuleFile `json:"files" jsonschema:"The owner's files, in order."`
	Omitted int        `json:"omitted,omitempty" jsonschema:"How many other files there are."`
	Default bool       `json:"default" jsonschema:"heed's default rules come after them."`
	Error   string     `json:"error,omitempty" jsonschema:"Why the current files are not in use; the last valid rules are."`
	Refused uint64     `json:"refused" jsonschema:"How often files were refused."`
}

// ruleFiles watches the rule files.
type ruleFiles struct {
	cfg      *Config
	defaults bool // heed's default rules come after the files

	now   atomic.Pointer[rulesInUse] // which the watcher replaces
	tried []RuleFile                 // that were compiled last, with success or not; used by the watcher only
}

// rulesInUse is a set with its files.
type rulesInUse struct {
	RuleStatus
	set *rules.Set
}

// init reads the files and compiles the first set: nil if only the embedded rules apply.
func (w *ruleFiles) init(cfg *Config) (*rules.Set, error) {
	w.cfg, w.defaults = cfg, !cfg.NoDefaults
	now := &rulesInUse{set: cfg.Engine.Rules, RuleStatus: RuleStatus{Since: cfg.Now()}}
	w.now.Store(now)
	if len(cfg.RuleFiles) == 0 && w.defaults && now.set != nil {
		w.defaults = false
		return now.set, nil
	}
	sources, files, err := w.read()
	if err == nil {
		now.set, err = w.compile(sources)
	}
	now.Files, w.tried = files, files
	return now.set, err // a list of errors, which is printed one a line
}

// read reads the files.
func (w *ruleFiles) read() (sources []rules.File, read []RuleFile, err error) {
	today := w.cfg.Now().UTC().Format(time.DateOnly)
	for _, name := range w.cfg.RuleFiles {
		data, err := files.ReadRegular(name, rules.MaxFileBytes) // another kind, such as a named pipe, may make it wait
		if err != nil {
			return nil, nil, err
		}
		sum := sha256.Sum256(data)
		file := RuleFile{Name: name, Bytes: len(data), Hash: hex.EncodeToString(sum[:8])}
		if info, err := os.Stat(name); err == nil {
			file.Changed = info.ModTime()
		}
		sources, read = append(sources, rules.File{Name: name, Data: data, Today: today}), append(read, file)
	}
	return sources, read, nil
}

// compile compiles the files, with the embedded rules after them.
func (w *ruleFiles) compile(sources []rules.File) (*rules.Set, error) {
	if w.defaults {
		sources = append(sources, rules.Defaults()...)
	}
	set, err := rules.Compile(sources...)
	if err == nil {
		for _, ended := range set.Ended() {
			w.cfg.Logger.Warn(ended)
		}
	}
	return set, err
}

// reloadIfChanged reads the files, which are small, and compiles them if they changed: some file systems keep times in
// seconds.
func (s *Session) reloadIfChanged() {
	w := &s.rules
	sources, files, err := w.read()
	if err == nil && slices.EqualFunc(files, w.tried, func(a, b RuleFile) bool { return a.Hash == b.Hash }) {
		return
	}
	w.tried = files // none after an error
	var set *rules.Set
	if err == nil {
		set, err = w.compile(sources)
	}
	now := *w.now.Load()
	isOther := err == nil && set.Hash() != now.set.Hash()
	if isOther {
		err = s.engine.SetRules(set)
	}
	switch {
	case err == nil:
		if now.Files, now.Error = files, ""; isOther {
			now.set, now.Since = set, s.now()
			now.Swaps++
			s.log.Info("new rules are in use", "rules", len(set.Rules()), "hash", hash(set))
		}
	case now.Error != err.Error():
		now.Error = err.Error()
		now.Refused++
		s.log.Error("the rules have errors; the last valid rules stay in use", "error", err)
	}
	w.now.Store(&now)
}

func (w *ruleFiles) status() RuleStatus {
	now := w.now.Load()
	st := now.RuleStatus
	st.Rules, st.Hash, st.Default = len(now.set.Rules()), hash(now.set), w.defaults
	st.Files = append([]RuleFile{}, st.Files...)
	return st
}

func hash(set *rules.Set) string { return fmt.Sprintf("%016x", set.Hash()) }
