// Package wire writes the state of a structure as bytes and reads it back, with
// one description for both directions: a [Coder] that was made by [Writer]
// appends what it is given, one that was made by [Reader] sets it. Whoever
// describes a structure names each field once, so that the two cannot drift
// apart.
//
// What is read may be anything: each value has a limit, the first that breaks
// one is reported by [Coder.Err], and after it nothing is set any more and all
// lengths are zero. Nothing is allocated that is larger than what is left to be
// read can justify, and strings are copied.
//
// Numbers are varints, signed ones in zigzag; strings and sections have their
// length in front. There are no tags and no types: both sides must agree, by a
// version that the caller writes. Writing allocates nothing but the growth of
// the destination. A Coder is not safe for concurrent use.
package wire
