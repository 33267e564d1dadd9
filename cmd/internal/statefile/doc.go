// Package statefile keeps small state on disk: files that are whole or not there, and locks on names.
//
// [WriteFile] replaces a file so that a reader finds the old data or the new one, never half of either, after a
// kill or a loss of power too. [ReadFile] reads one within a bound. Data is opaque: form and checksums belong
// to the caller. Files have permissions 0600.
//
// [Lock] keeps two processes from using one name. The kernel holds the lock and releases it when the process ends, so
// that a kill leaves nothing to clean up.
package statefile
