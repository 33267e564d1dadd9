package workload

import (
	"os"
	"strings"
)

// CPU returns the name of the processor, "" where the system does not report it.
func CPU() string {
	data, _ := os.ReadFile("/proc/cpuinfo")
	_, rest, _ := strings.Cut(string(data), "model name")
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Trim(line, ": \t")
}
