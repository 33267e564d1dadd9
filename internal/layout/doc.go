// Package layout keeps the shape of the repository: its tests fail when a
// package lacks its one package comment, when an import goes against the
// direction that data flows in, when golden files and captures drift apart, or
// when the two descriptions of a release differ.
//
// The table of permitted imports is the depguard section of .golangci.yml, so
// that editor, linter and "go test" read the same one. The package holds tests
// only, reads the source tree that it stands in, and needs no network.
package layout
