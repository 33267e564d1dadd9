package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/heedlog/heed/bench/workload"
)

// machine is where the figures come from. Unknown fields are empty.
type machine struct {
	CPU        string            `json:"cpu"`
	Cores      int               `json:"cores"`
	OS         string            `json:"os"`
	Go         string            `json:"go"`
	Clock      string            `json:"clock"`
	LoadBefore string            `json:"loadBefore"`
	LoadAfter  string            `json:"loadAfter"`
	Modules    map[string]string `json:"modules"`
}

// compared are the modules whose version matters for the figures.
var compared = []string{
	"github.com/cespare/xxhash/v2",
	"github.com/grafana/loki/v3",
	"github.com/open-telemetry/opentelemetry-collector-contrib/processor/logdedupprocessor",
	"github.com/rs/zerolog",
	"go.uber.org/zap",
}

func thisMachine() machine {
	m := machine{
		Cores: runtime.NumCPU(), OS: runtime.GOOS + "/" + runtime.GOARCH, Go: runtime.Version(),
		CPU: workload.CPU(), Clock: workload.Clock, LoadBefore: load(), Modules: map[string]string{},
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return m
	}
	for _, dep := range info.Deps {
		for _, path := range compared {
			if dep.Path == path {
				m.Modules[path] = dep.Version
			}
		}
	}
	return m
}

// load returns the load of the last minute, if the system reports it.
func load() string {
	data, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	first, _, _ := strings.Cut(string(data), " ")
	return first
}
