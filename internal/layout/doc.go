// Package layout keeps the shape of the repository: its tests fail when a package lacks its one package comment, when
// an import goes against the flow of data, when golden files do not match captures, when the two descriptions of a
// release differ, when a package that hosts import has no Example that runs, when a guide quotes code that no
// Example has, or is not linked in the README, when a file is too long, or when ARCHITECTURE.md names a missing place.
//
// The order of imports and the ceilings of lines are the map of ARCHITECTURE.md. The package holds tests
// only, reads the source tree, and needs no network.
package layout
