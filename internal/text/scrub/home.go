package scrub

import (
	"regexp"
	"strings"
)

// roots are the folders that have a folder for each user.
var (
	separatorsOf = `\\/`

	// mounted is what may be before a root on systems with one tree of folders, and shared before one of Windows.
	mounted = regexp.MustCompile(`(?:^|[^\w.~%-]|[^\w.]\.|://[^/\s]*)(?:/(?:var|var/services|export|usr|nfs|srv|net|data|data/user|private/var|System/Volumes/Data|Volumes/[^/\r\n]{1,64}|mnt|(?:mnt/|cygdrive/|host_mnt/|run/desktop/mnt/host/)?[a-z]|mnt/[\w.-]+|run|var/spool|rpool|tank|home|homes))?$`)
	shared  = regexp.MustCompile(`(?i)(?:\b[a-z](?::|%3a|%253a)|drive_[a-z]|(?:\\\\|(?:^|[\s"=(])//|\\\?\\UNC\\|wsl\S{1,12})[^\s\\/]+(?:[\\/]+[\w$. -]+){0,2}|%(?:systemdrive|homedrive)%|\\\\<computer>(?:[\\/][\w$.-]+)?)$`)
	inside  = regexp.MustCompile(`^[\\/]+(?:AppData|Documents|Desktop|Downloads|OneDrive|Saved Games|Library)\b`)
)

// home adds the name of a user's folder below the root at a place.
func (f *finder) home(at, end int) {
	s := f.s
	for strings.HasSuffix(s[:end], "/") || strings.HasSuffix(s[:end], `\`) || strings.HasSuffix(s[:end], "%") {
		end--
	}
	from := separated(s, end)
	if from == end {
		return
	}
	before := trimSeparators(s[:at])
	root := s[at:end]
	windows := strings.HasSuffix(s[:at], `\`) || shared.MatchString(before[max(0, len(before)-96):])
	unix := len(before) < at && !windows && (root == "home" || root == "Users" || root == "homes" || root == "user" || root == "media" || root == "mail" || root == "crontabs" || root == "users") &&
		mounted.MatchString(before[max(0, len(before)-96):])
	encoded := len(before) < at && s[from-1] != '/' && s[from-1] != '\\' && strings.HasSuffix(strings.ToLower(s[:at]), "2f")
	if root == "user" && !strings.HasSuffix(before, "/run") && !windows || (root == "mail" || root == "crontabs") && !strings.HasPrefix(before[max(0, len(before)-10):], "/var") && !strings.HasSuffix(before, "/var/spool") && !strings.HasSuffix(before, "/var/spool/cron") || root == "users" && !strings.HasSuffix(before, "/home") && !strings.HasSuffix(before, "/homes") && !windows {
		unix = false
	}
	if windows && !shared.MatchString(before[max(0, len(before)-96):]) && before != "" && strings.IndexByte(spaces+"\"'=([", before[len(before)-1]) < 0 {
		windows = false
	}
	bare := at == len(before) && (at == 0 || strings.IndexByte(spaces+"\"'=([,", s[at-1]) >= 0)
	to := from
	switch {
	case windows, bare, encoded:
		for to < len(s) && strings.IndexByte("\\/:*?\"<>|\r\n", s[to]) < 0 && (s[to] != '%' || separated(s, to) == to) {
			to++
		}
		if bare && !windows && !inside.MatchString(s[to:]) && !(root == "home" && at > 0 && (s[at-1] == '=' || s[at-1] == ',') && to < len(s)) {
			return
		}
	case unix:
		stop := func(i int) int {
			for i < len(s) && strings.IndexByte("/\\:\"'<>|)],;"+spaces, s[i]) < 0 {
				i++
			}
			return i
		}
		to = stop(from)
		for next, spaced := to, 0; spaced < 3 && next < len(s) && s[next] == ' '; spaced++ {
			if next = stop(next + 1); next < len(s) && s[next] == '/' {
				to = next
				break
			}
		}
	}
	if windows || encoded {
		to = from + len(strings.TrimRight(s[from:to], " .,;)]'"))
	}
	if to > from && !sharedHome(s[from:to]) && !strings.HasPrefix(s[from:], "$") && !strings.HasPrefix(s[from:], "%") {
		f.add(User, from, to, true)
	}
}

// separated returns the place behind the separators of a path, in whatever form, that begin at a place.
func separated(s string, at int) int {
	for at < len(s) {
		switch {
		case s[at] == '/' || s[at] == '\\':
			at++
		case hasFold(s[at:], "%5c") || hasFold(s[at:], "%2f"):
			at += 3
		case hasFold(s[at:], "%255c") || hasFold(s[at:], "%252f"):
			at += 5
		default:
			return at
		}
	}
	return at
}

// trimSeparators returns s without the separators of a path at its end.
func trimSeparators(s string) string {
	for {
		n := strings.TrimRight(s, separatorsOf)
		for _, encoded := range []string{"%5c", "%2f", "%255c", "%252f"} {
			if len(n) >= len(encoded) && hasFold(n[len(n)-len(encoded):], encoded) {
				n = n[:len(n)-len(encoded)]
			}
		}
		if n == s {
			return s
		}
		s = n
	}
}
