package blame

// What tests from outside look at.
const (
	MaxName     = maxName
	MaxSuspects = maxSuspects
)

// Display returns a name as a [Suspect] has it.
func Display(name string) string { return display(name) }

// Mods returns how many mods were learned.
func (f *Finder) Mods() int { return len(f.mods) }
