// Package statefile keeps small state on disk: files that are whole or not there, and locks on names.
//
// [WriteFile] replaces a file so that a reader finds the old payload or the new one, never half of either, after a
// kill or a loss of power too. [ReadFile] verifies what it reads; a file that is torn, changed, of another kind or of
// another version is an error, and nothing of it is used. A payload is opaque, not compressed and not encrypted; files
// have permissions 0600. [SetAside] keeps one that is of no use to this program under another name.
//
// [Lock] keeps two processes from using one name. The kernel holds the lock and releases it when the process ends, so
// that a kill leaves nothing to clean up.
package statefile
