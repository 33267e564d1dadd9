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

// findLog returns the log to follow of a game with its arguments; name begins the names of
// heed's files. What is found that cannot be followed, such as /dev/null, is no reason to
// keep a person from the game.
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

// spoolPath returns the file in the state folder, which newHost opens, for the copy of the
// game's standard output.
func (p *program) spoolPath(f *wrapFlags, name string) string {
	dir := stateDir(f.state)
	if dir == "" {
		dir, _ = defaultState(p.Getenv) // newHost says what is wrong with it
	}
	return dir.path(name + "-" + strconv.Itoa(os.Getpid()) + ".stdout")
}

// config returns how l is followed.
func (l *wrappedLog) config() follow.Config {
	return follow.Config{Path: cmp.Or(l.spool, l.Path), FromEnd: true, Continues: l.spool != ""}
}

// tell writes to heed's own log which one is followed, and what to do where none is.
func (l *wrappedLog) tell(log *slog.Logger, game string) {
	switch {
	case l.unfit != nil:
		log.Warn("the game's log cannot be followed; name another with --log", "error", l.unfit)
	case l.Path == "":
		log.Warn("no log was found to follow; name it with --log", "game", game)
	default:
		log.Info("the log is followed", "path", l.Path, "because", l.How)
	}
}
