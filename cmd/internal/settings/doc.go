// Package settings finds the settings of a person, and their places: flags of a command line prevail over variables of
// the environment (HEED_…), variables over the file of the project (.heed.yaml, in the working directory or the nearest
// one above it), the project's file over the file of the user (heed/config.yaml in the system's folder for
// configuration), and all over the defaults.
//
// A key is the name of the flag, the same in every place, and means the same to
// every command that has the flag. Which form the output has is no setting: a
// script that reads it must not depend on who runs it.
//
// Files are read strictly: an unknown key, a value that it cannot have
// or a key given twice is an error with its file, line and column, and a
// configuration that has errors is not used at all. Nothing in a file is run, and
// no file is fetched.
//
// A project's file may come with a folder that others made. The search for it ends at the home folder, at the
// root of a repository and at a change of owner. A file that another account owns or can write is ignored, and
// so is each key whose [Effect] is for the user alone, with a reason. A file that is named (--config, HEED_CONFIG)
// is read in place of the project's file, with all its keys, also if others own it.
//
// The package reads files and holds no state; a [Settings] does not change once
// it is loaded.
package settings
