// Package wire writes the payload of a sidecar's frame as bytes and reads it back, with one description for both
// directions: a [Coder] that was made by [Writer] appends the values that it is given, a Coder that was made by
// [Reader] sets them.
//
// Each value that is read has a limit. [Coder.Err] returns the first breach; after it nothing is set any more and all
// lengths are zero. Nothing is allocated that is larger than the rest of the input can justify, and strings are copied.
//
// Numbers are varints; strings and sections begin with their length. There are no tags and no types: both sides must
// agree on a version, which the caller writes. Writing allocates nothing but the growth of the destination. A Coder is
// not safe for concurrent use.
package wire
