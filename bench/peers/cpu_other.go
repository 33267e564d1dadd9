//go:build !unix

package main

import "time"

const clockName = "time of day"

var started = time.Now()

func now() time.Duration { return time.Since(started) }
