// Package follow follows a growing log file, and hands its records over as they
// come.
package follow
