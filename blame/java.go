package blame

import "strings"

// javaPath returns the path of the method that a frame in Java's form names, without
// the class loader and the module that stand before it, and the mod whose archive it
// says the code is from, "" where it says none:
//
//	at com.acme.press.Roller.turn(Roller.java:57) ~[press-2.3.0.jar:?]
//	at TRANSFORMER/press@2.3.0/com.acme.press.Roller.turn(Roller.java:57) ~[press-2.3.0.jar%23201!/:2.3.0]
//	at knot//com.acme.press.Roller.turn(Roller.java:57)
func javaPath(path, line string) (method, mod string) {
	if !isJava(line) {
		return path, ""
	}
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		module := path[:i]
		path = path[i+1:]
		if _, module, ok := strings.Cut(module, "/"); ok {
			mod, _, _ = strings.Cut(module, "@")
		}
	}
	if i := strings.LastIndexByte(line, '['); mod == "" && i >= 0 {
		if archive, _, ok := strings.Cut(line[i+1:], ".jar"); ok && strings.IndexByte(archive, ']') < 0 {
			mod = archiveName(archive)
		}
	}
	return path, mod
}

// isJava reports whether a frame gives its place as Java does.
func isJava(line string) bool {
	for _, place := range [...]string{".java:", ".kt:", ".scala:", "(Native Method)", "(Unknown Source)", "(SourceFile:", ".jar"} {
		if strings.Contains(line, place) {
			return true
		}
	}
	return false
}

// archiveName returns the name of an archive without its version and what it is for:
// "press-2.3.0", "press-fabric-1.20.1-2.3.0", "press-forge-2.3".
func archiveName(archive string) string {
	for i := 0; i+1 < len(archive); i++ {
		if c := archive[i]; (c == '-' || c == '_' || c == '+') && (digit(archive[i+1]) || strings.HasPrefix(archive[i+1:], "mc1.")) {
			archive = archive[:i]
			break
		}
	}
	for _, loader := range [...]string{"-fabric", "-forge", "-neoforge", "-quilt", "-common"} {
		archive = strings.TrimSuffix(archive, loader)
	}
	return archive
}

// rootOf returns the part of the path of a method that names whose code it is: the
// first, or behind the top-level domain with which packages of Java begin the last of at
// most two that are written small, "press" of com.acme.press.Roller.turn. It returns ""
// where there is none.
func rootOf(path string) string {
	root := identifier(path)
	if !isDomain(root) {
		return root
	}
	owner := ""
	rest := path[len(root):]
	for range 2 {
		rest = strings.TrimPrefix(rest, ".")
		part := identifier(rest)
		if part == "" || len(part) == len(rest) || rest[len(part)] != '.' || part[0]-'a' >= 26 {
			break
		}
		owner, rest = part, rest[len(part):]
	}
	return owner
}

// isDomain reports whether a part of a path is one of the domains with which packages
// begin. It says nothing of whose code it is.
func isDomain(part string) bool {
	switch part {
	case "com", "org", "net", "io", "dev", "me", "de", "fr", "ru", "uk", "eu", "it", "jp", "cn", "us", "ca", "nl", "pl", "se", "tv", "xyz", "gg", "moe":
		return true
	}
	return false
}
