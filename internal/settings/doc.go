// Package settings finds what a person configured, and where: flags of a command
// line prevail over variables of the environment (HEED_…), those over the file of
// the project (.heed.yaml, in the working directory or the nearest one above it),
// that over the file of the user (heed/config.yaml in the system's folder for
// configuration), and that over the defaults.
//
// A key is the name of the flag, the same in every place, and means the same to
// every command that has the flag. Which form the output has is no setting: a
// script that reads it must not depend on who runs it.
//
// Files are read strictly: an unknown key, a value that it cannot have
// or a key given twice is an error with its file, line and column, and a
// configuration that has errors is not used at all. Nothing in a file is run, and
// no file is fetched: a project's file can choose rules and how things are shown.
//
// The package reads files and holds no state; a [Settings] does not change once
// it is loaded.
package settings
