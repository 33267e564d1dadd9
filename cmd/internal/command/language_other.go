//go:build !windows

package command

// systemLanguage returns "": the environment names the language.
func systemLanguage() string { return "" }
