package live

import (
	"cmp"
	"log/slog"
	"os"
	"strconv"

	"github.com/heedlog/heed/capture/follow"

	"github.com/heedlog/heed/internal/files"
)

// wrappedLog is the log of a game that heed starts.
type wrappedLog struct {
	files.Found // with no Path where there is none to follow

	unfit error  // why the one that was found cannot be followed
	spool string // the file for the copy of the game's standard output, where that is the log
}

// findLog returns the log to follow of a game with its arguments; name begins the names of heed's files. A log that was
// found and cannot be followed, such as /dev/null, does not keep the game from starting.
func (p *program) findLog(f *wrapFlags, args []string, name string) *wrappedLog {
	l := &wrappedLog{}
	switch f.log {
	case "none":
	case "":
		l.Found, _ = files.FindLog(files.Game{Args: args, Getenv: p.Getenv})
		if l.Path != "" && l.Path != files.Standard {
			l.unfit = follow.Check(l.Path)
		}
		if l.unfit != nil {
			l.Found = files.Found{}
		}
	default:
		l.Found = files.Found{Path: f.log, How: "--log"}
	}
	if l.Path == files.Standard {
		l.spool = p.spoolPath(f, name)
	}
	return l
}

// spoolPath returns the file for the copy of the game's standard output, in the state folder that newHost opens.
func (p *program) spoolPath(f *wrapFlags, name string) string {
	dir := stateDir(f.state)
	if dir == "" {
		dir, _ = defaultState(p.Getenv) // newHost returns the error
	}
	return dir.path(name + "-" + strconv.Itoa(os.Getpid()) + ".stdout")
}

// config returns how l is followed.
func (l *wrappedLog) config() follow.Config {
	return follow.Config{Path: cmp.Or(l.spool, l.Path), FromEnd: true, Continues: l.spool != ""}
}

// report logs which log is followed, and what to do where none is.
func (l *wrappedLog) report(log *slog.Logger, game string) {
	switch {
	case l.unfit != nil:
		log.Warn("the game's log cannot be followed; name another with --log", "error", l.unfit)
	case l.Path == "":
		log.Warn("no log was found to follow; name it with --log", "game", game)
	default:
		log.Info("the log is followed", "path", l.Path, "because", l.How)
	}
}
