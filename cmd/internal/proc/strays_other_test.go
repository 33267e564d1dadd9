//go:build unix && !linux

package proc

const hasStrays = false
