package follow

import "time"

// Status says how the following goes.
type Status struct {
	// Present says that the file at the path is open.
	Present bool

	// Offset is how far the file has been read, Size how long it was when last
	// looked at, in bytes.
	Offset, Size int64

	// LastGrowth is when it was last seen to have grown. Zero: never.
	LastGrowth time.Time

	// Lines and Records count what was read and handed over, over all files.
	Lines, Records uint64

	// Continued is how many records were handed over a second time, in full or in
	// part, since lines came late.
	Continued uint64

	// Rotations counts files that took the place of another, Truncations how often
	// one was cut and begun anew.
	Rotations, Truncations uint64

	// LostBytes is how many bytes are known to have gone before they were read.
	LostBytes uint64

	// Notified says that the operating system tells of changes. Untold counts the
	// changes that it did not tell of.
	Notified bool
	Untold   uint64

	// LastError is why the file cannot be followed now, nil while it can. A file that
	// does not exist yet is no error.
	LastError error
}
