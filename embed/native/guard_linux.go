//go:build cgo && !heedunguarded

package main

// #cgo LDFLAGS: -Wl,--wrap=sigaction -Wl,--wrap=pthread_create
import "C"
