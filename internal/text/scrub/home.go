package scrub

import (
	"regexp"
	"slices"
	"strings"

	"github.com/heedlog/heed/internal/text"
)

var (
	// drive matches the end of the text before the folder of the homes on Windows and in a URL, and share its end in a
	// share.
	drive = text.Lazy(`(?i)(?:\b[a-z](?::|%3a|%253a)|drive_[a-z]|%(?:system|home)drive%)(?:[\\/]|%(?:25)?(?:5c|2f))+$|(?:^|[\s"'=(\[,])\\$|2f$`)
	share = text.Lazy(`(?i)(?:(?:\\\\|(?:^|[\s"=(])//|\\\?\\UNC\\|wsl\S{1,12})[^\s\\/]+(?:[\\/]+[\w$. -]+){0,2}|\\\\<computer>(?:[\\/][\w$.-]+)?)[\\/]+$`)
	// onUnix matches the same with that folder on systems with one tree of folders.
	onUnix = text.Lazy(`(?:^|[^\w.~%\\/-]|[^\w.]\.|(?:[^s]|[^e]s|[^r]es)://[^/\s]*)(?:/(?:run|volume\d+|var|var/services|export|usr|nfs|srv|net|data|data/user|private/var|System/Volumes/Data|Volumes/[^/\r\n]{1,64}|` +
		`mnt|(?:mnt/|cygdrive/|host_mnt/|run/desktop/mnt/host/)?[a-z]|mnt/[\w.-]+|rpool|tank|homes?))?[\\/]+(?:home\d?|Users|homes|media|run/user|homes?/users|var/(?:spool/)?(?:mail|cron/crontabs))$`)

	slashes  = text.Lazy(`^(?:[\\/]|(?i:%(?:25)?(?:5c|2f)))+`)
	document = text.Lazy(`(?i)^.*\.(?:pdf|docx?|xlsx?|od[ts]|pptx?|rtf|jpe?g|heic|mp4|mov|kdbx|csv|eml|psd)$`)
	deeper   = text.Lazy(`^(?:[\\/]|(?i:%(?:25)?(?:5c|2f)))+[^\\/"'\s%]`)
	inside   = text.Lazy(`^[\\/]+(?:AppData|Documents|Desktop|Downloads|OneDrive|Saved Games|Library)\b`)

	// unixName matches a name, which may have spaces if a separator follows on the line.
	unixName    = text.Lazy(`^[^/\\:"'<>|)\],;\s]+(?:(?: [^/\\:"'<>|)\],;\s]+){1,3}/)?`)
	windowsName = text.Lazy(`^(?:[^\\/:*?"<>|\r\n%]|%(?:[^25\\/:*?"<>|\r\n]|2[^5fF]|5[^cC]))+`)
)

// home adds the name of a user's folder below the folder of the homes, which is between two places, and the names that
// the user gave to folders below it.
func (f *finder) home(at, end int) {
	s, names := f.s, windowsName
	end = len(strings.TrimRight(s[:end], `/\%`))
	from := end + len(slashes().FindString(s[end:]))
	near := max(0, at-96)
	switch {
	case strings.IndexByte("~$%", s[at]) >= 0: // a name for the home
		if s[at] != '%' {
			names = unixName
		}
		if at == 0 || strings.IndexByte(spaces+"\"'=([,:", s[at-1]) >= 0 || strings.HasSuffix(s[:at], "com") {
			f.folders(end, names)
		}
		return
	case from == end:
		return
	case drive().MatchString(s[max(0, at-18):at]), share().MatchString(s[near:at]):
	case at == 0 || strings.IndexByte(spaces+"\"'=([,", s[at-1]) >= 0: // the beginning of a path
		if !inside().MatchString(s[from+len(names().FindString(s[from:])):]) {
			return
		}
	case onUnix().MatchString(s[near:end]):
		names = unixName
	default:
		return
	}
	whole := strings.TrimSuffix(names().FindString(s[from:]), "/")
	name := strings.TrimRight(whole, " .,;)]'")
	if !sharedHome(name) && name[0] != '$' && strings.LastIndexByte(name, '%') != 0 {
		f.add(User, from, from+len(name))
	}
	if !slices.Contains(lists["root"], strings.ToLower(name)) {
		f.folders(from+len(whole), names)
	}
}

// maxFolders bounds the folders of a path that are looked at.
const maxFolders = 16

// folders adds the names that a user gave to folders, which are not common, in the path after the place, and to the
// document at its end.
func (f *finder) folders(at int, names func() *regexp.Regexp) {
	s := f.s
	for level := 0; level < maxFolders && deeper().MatchString(s[at:]); level++ {
		from := at + len(slashes().FindString(s[at:]))
		name := strings.TrimSuffix(names().FindString(s[from:]), "/")
		at = from + len(name)
		isLast := !deeper().MatchString(s[at:])
		if name == "" || name[0] == '.' || is(name, folderWord) || level == 0 && isLast ||
			!isLast && (strings.HasSuffix(name, " ") || strings.Contains(name, ", ")) {
			return
		}
		if isLast && (at == len(s) || s[at] != '"' && s[at] != '\'') {
			name = name[:strings.IndexAny(name+" ", " ;")]
		}
		if isLast && strings.Contains(name, ".") {
			name = document().FindString(name)
		}
		name = strings.TrimRight(name, ".,:;!?)")
		lower := strings.ToLower(name)
		isKnown := common(lower) && !strings.Contains(lower, " ")
		if !isKnown && !isOrdinary(lower) && !strings.HasPrefix(lower, "onedrive") {
			f.add(Folder, from, from+len(name))
		}
	}
}
