package blame

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// What a mod is called that reads, checks, measures or reports what other mods do. It stands in
// many traces and before many texts, and is at fault in few: a messenger.
var (
	// One of these is enough.
	messengerWords = map[string]bool{
		"profiler": true, "profiling": true, "analyzer": true, "analyser": true, "watchdog": true, "debugger": true,
		"diagnostics": true, "linter": true, "logger": true, "logging": true, "stacktrace": true, "telemetry": true,
	}

	// One of these and one of the acts next to it: ErrorChecker, Mod Manager, CheckErrors. True are those that
	// are faults.
	messengerThings = map[string]bool{
		"error": true, "errors": true, "exception": true, "exceptions": true, "crash": true, "crashes": true, "bug": true,
		"log": true, "logs": true, "stack": true, "trace": true,
		"mod": false, "mods": false, "harmony": false, "patch": false, "patches": false, "save": false, "assembly": false,
		"assemblies": false, "performance": false, // of a mod, and of any mod's own types
	}
	messengerActs = map[string]bool{
		"check": true, "checks": true, "checker": true, "report": true, "reports": true, "reporter": true,
		"log": true, "logger": true, "view": true, "viewer": true, "visual": true, "visualizer": true, "visualiser": true,
		"analysis": true, "catcher": true, "catch": true, "handler": true, "watcher": true, "monitor": true, "tracer": true,
		"inspector": true, "validator": true, "verifier": true, "manager": true, "finder": true, "fixer": true,
		"cleaner": true, "scanner": true, "filter": true, "better": true, "debug": true, "publisher": true, "guard": true,
	}

	// What reads data that others wrote.
	loaderWords = map[string]bool{
		"loader": true, "reader": true, "parser": true, "importer": true, "deserializer": true, "serializer": true,
	}
)

// messenger reports whether the name of a mod says that it reads, checks, measures or reports what
// others do.
func messenger(name string) bool { return reports(name, false) }

// reportsFaults reports whether the name of a type says that it takes or writes faults of others,
// of the same mod at least.
func reportsFaults(name string) bool { return reports(name, true) }

func reports(name string, faults bool) bool {
	about := func(word string) bool {
		fault, ok := messengerThings[word]
		return ok && (fault || !faults)
	}
	before := ""
	for word := range wordsOf(name) {
		if messengerWords[word] || about(before) && messengerActs[word] || messengerActs[before] && about(word) {
			return true
		}
		before = word
	}
	return false
}

// loads reports whether a name of code says that it reads data.
func loads(name string) bool {
	for word := range wordsOf(name) {
		if loaderWords[word] {
			return true
		}
	}
	return false
}

// wordsOf yields the words of a name in lower case, apart by signs or by capitals: mod, error and
// checker of ModErrorChecker and of mod_error-checker.
func wordsOf(name string) func(func(string) bool) {
	return func(yield func(string) bool) {
		from, lower := 0, false
		word := func(to int) bool {
			return from == to || yield(strings.ToLower(name[from:to]))
		}
		for i := 0; i < len(name); {
			r, size := utf8.DecodeRuneInString(name[i:])
			letter := unicode.IsLetter(r)
			if !letter || lower && unicode.IsUpper(r) {
				if !word(i) {
					return
				}
				from = i
				if !letter {
					from += size
				}
			}
			lower = letter && !unicode.IsUpper(r)
			i += size
		}
		word(len(name))
	}
}

// typePath returns a path without its method.
func typePath(path string) string {
	if i := strings.LastIndexAny(path, ".:"); i > 0 {
		return strings.TrimRight(path[:i], ".:")
	}
	return path
}

// introspects reports whether a frame is of code that looks at other code: reflection, and what
// reads the instructions of methods.
func introspects(path string) bool {
	for _, prefix := range [...]string{
		"System.Reflection.", "System.RuntimeType.", "System.Activator.", "System.RuntimeTypeHandle.",
		"System.RuntimeMethodHandle.", "Mono.Cecil.", "HarmonyLib.MethodBodyReader.", "HarmonyLib.MethodCopier",
	} {
		if strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// logs reports whether a frame is of the method by which code writes to the log.
func logs(path string) bool {
	method := path[strings.LastIndexAny(path, ".:")+1:]
	typ := typePath(path)
	typ = typ[strings.LastIndexAny(typ, ".:/+")+1:]
	switch typ {
	case "Log", "Debug", "Logger", "DebugLogHandler", "StackTraceUtility":
	default:
		return false
	}
	for _, name := range [...]string{"Log", "Error", "Warning", "Message", "ExtractStackTrace"} {
		if strings.HasPrefix(method, name) {
			return true
		}
	}
	return false
}
