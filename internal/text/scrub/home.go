package scrub

import (
	"regexp"
	"strings"
)

var (
	// mounted is what may be before a root on systems with one tree of folders, and shared before one of Windows.
	mounted = regexp.MustCompile(`(?:^|[^\w.~%-]|[^\w.]\.|://[^/\s]*)(?:/(?:var|var/services|export|usr|nfs|srv|net|data|data/user|private/var|System/Volumes/Data|Volumes/[^/\r\n]{1,64}|mnt|(?:mnt/|cygdrive/|host_mnt/|run/desktop/mnt/host/)?[a-z]|mnt/[\w.-]+|run|var/spool|rpool|tank|home|homes))?$`)
	shared  = regexp.MustCompile(`(?i)(?:\b[a-z](?::|%3a|%253a)|drive_[a-z]|(?:\\\\|(?:^|[\s"=(])//|\\\?\\UNC\\|wsl\S{1,12})[^\s\\/]+(?:[\\/]+[\w$. -]+){0,2}|%(?:systemdrive|homedrive)%|\\\\<computer>(?:[\\/][\w$.-]+)?)$`)
	inside  = regexp.MustCompile(`^[\\/]+(?:AppData|Documents|Desktop|Downloads|OneDrive|Saved Games|Library)\b`)
)

// place is where the folder of the folders of users is.
type place int

const (
	nowhere place = iota
	onWindows
	onUnix
	inURL // with separators that are escaped
	alone // at the beginning of a path
)

// home adds the name of a user's folder below the root at a place.
func (f *finder) home(at, end int) {
	s := f.s
	end = len(strings.TrimRight(s[:end], `/\%`))
	from := separated(s, end)
	if from == end {
		return
	}
	var to int
	switch place := placeOf(s, at, s[at:end], s[from-1]); place {
	case nowhere:
		return
	case onUnix:
		to = unixName(s, from)
	default:
		for to = from; to < len(s) && strings.IndexByte("\\/:*?\"<>|\r\n", s[to]) < 0 && (s[to] != '%' || separated(s, to) == to); {
			to++
		}
		assigned := at > 0 && (s[at-1] == '=' || s[at-1] == ',') && s[at:end] == "home" && to < len(s)
		if place == alone && !assigned && !inside.MatchString(s[to:]) {
			return
		}
		to = from + len(strings.TrimRight(s[from:to], " .,;)]'"))
	}
	if to > from && !sharedHome(s[from:to]) && s[from] != '$' && s[from] != '%' {
		f.add(User, from, to, true)
	}
}

// placeOf returns where the root at a place is. last is the last byte of the separators behind it.
func placeOf(s string, at int, root string, last byte) place {
	before := trimSeparators(s[:at])
	near := before[max(0, len(before)-96):]
	begins := before == "" || strings.IndexByte(spaces+"\"'=([,", before[len(before)-1]) >= 0
	switch {
	case len(before) < at && shared.MatchString(near), strings.HasSuffix(s[:at], `\`) && begins:
		return onWindows
	case len(before) == at:
		if begins {
			return alone
		}
		return nowhere
	case last != '/' && last != '\\' && strings.HasSuffix(strings.ToLower(s[:at]), "2f"):
		return inURL
	case isRootOn(root, before) && mounted.MatchString(near):
		return onUnix
	}
	return nowhere
}

// isRootOn reports whether a folder is one of the folders of users on a system with one tree, behind another folder.
func isRootOn(root, before string) bool {
	switch root {
	case "home", "Users", "homes", "media":
		return true
	case "user":
		return strings.HasSuffix(before, "/run")
	case "users":
		return strings.HasSuffix(before, "/home") || strings.HasSuffix(before, "/homes")
	case "mail", "crontabs":
		return strings.HasSuffix(before, "/var") || strings.HasSuffix(before, "/var/spool") || strings.HasSuffix(before, "/cron")
	}
	return false
}

// unixName returns where a name ends, which may hold spaces if a separator follows on the line.
func unixName(s string, from int) int {
	stop := func(i int) int {
		for i < len(s) && strings.IndexByte("/\\:\"'<>|)],;"+spaces, s[i]) < 0 {
			i++
		}
		return i
	}
	to := stop(from)
	for next, spaced := to, 0; spaced < 3 && next < len(s) && s[next] == ' '; spaced++ {
		if next = stop(next + 1); next < len(s) && s[next] == '/' {
			return next
		}
	}
	return to
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
		n := strings.TrimRight(s, `\/`)
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
