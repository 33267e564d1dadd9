//go:build !linux

package prism

import "errors"

func bindToLoopback(int) error { return errors.New("the port is bound to loopback on Linux only") }
