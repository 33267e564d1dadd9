package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Version says in one line what was built: the module's version, the commit,
// whether files differed from it, its date, and the Go release and system. What a
// build does not tell is left out; info may be nil.
func Version(info *debug.BuildInfo) string {
	version, goVersion := "(devel)", runtime.Version()
	var details []string
	if info != nil {
		if info.Main.Version != "" {
			version = info.Main.Version
		}
		if info.GoVersion != "" {
			goVersion = info.GoVersion
		}
		set := map[string]string{}
		for _, s := range info.Settings {
			set[s.Key] = s.Value
		}
		if commit := set["vcs.revision"]; commit != "" {
			details = append(details, "commit "+commit[:min(len(commit), 12)])
			if set["vcs.modified"] == "true" {
				details = append(details, "with changes")
			}
			if date, _, _ := strings.Cut(set["vcs.time"], "T"); date != "" {
				details = append(details, date)
			}
		}
	}
	details = append(details, goVersion, runtime.GOOS+"/"+runtime.GOARCH)
	return fmt.Sprintf("%s (%s)", version, strings.Join(details, ", "))
}
