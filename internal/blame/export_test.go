package blame

// What tests from outside look at.
const (
	MaxName     = maxName
	MaxSuspects = maxSuspects
	MaxMethods  = maxMethods
	MinTraces   = minTraces
)

// Display returns a name as a [Suspect] has it.
func Display(name string) string { return display(name) }

// Mods returns how many mods were learned.
func (f *Finder) Mods() int { return len(f.mods) }

// Methods returns how many methods were learned.
func (f *Finder) Methods() int { return len(f.methods) }
