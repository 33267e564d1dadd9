package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// ModuleVersion is the version of the program that runs, where its build says one: what
// peers are told.
func ModuleVersion() string {
	info, _ := debug.ReadBuildInfo()
	return moduleVersion(info)
}

// moduleVersion is the version of a build; info may be nil.
func moduleVersion(info *debug.BuildInfo) string {
	if info == nil || info.Main.Version == "" {
		return "(devel)"
	}
	return info.Main.Version
}

// Version says in one line what was built: the module's version, the commit,
// whether files differed from it, its date, and the Go release and system. What a
// build does not tell is left out; info may be nil.
func Version(info *debug.BuildInfo) string {
	goVersion := runtime.Version()
	var details []string
	if info != nil {
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
	return fmt.Sprintf("%s (%s)", moduleVersion(info), strings.Join(details, ", "))
}
