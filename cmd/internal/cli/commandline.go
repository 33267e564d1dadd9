package cli

import (
	"runtime"
	"strings"
)

// CommandLine returns a command as a person types it: each argument is quoted for the shell where it must be, for a
// POSIX shell, or on Windows for its own.
func CommandLine(args ...string) string {
	quoted := make([]string, len(args))
	for i, arg := range args {
		quoted[i] = quote(arg, runtime.GOOS == "windows")
	}
	return strings.Join(quoted, " ")
}

// quote returns an argument in quotes, unless it consists of bytes that mean nothing to a shell.
func quote(arg string, windows bool) string {
	plain := "_-./:,@%+="
	if windows {
		plain = `_-./:,+=\`
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune(plain, r)
	}) < 0 {
		return arg
	}
	if windows {
		return `"` + arg + `"` // no file's name has a quote there
	}
	return "'" + strings.ReplaceAll(arg, "'", `'\''`) + "'"
}
