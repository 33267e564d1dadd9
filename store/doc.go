// Package store keeps on disk what an engine would forget when its process ends.
//
// [Save] writes a snapshot of an engine to a file, whole or not at all; [Load]
// makes an engine of it, or, where there is none or it is refused, a new one in an
// epoch of its own.
package store
