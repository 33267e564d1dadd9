package prism

import (
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// bindToLoopback leaves the loopback device to this process's socket that listens on a port. Linux 5.7 and later let
// any user do so.
func bindToLoopback(port int) error {
	fds, err := listening(port)
	if err == nil && len(fds) == 0 {
		err = fmt.Errorf("no socket that listens on port %d", port)
	}
	for _, fd := range fds {
		if err := syscall.BindToDevice(fd, "lo"); err != nil {
			return os.NewSyscallError("setsockopt SO_BINDTODEVICE", err)
		}
	}
	return err
}

func listening(port int) (fds []int, err error) {
	entries, err := os.ReadDir("/proc/self/fd")
	for _, e := range entries {
		fd, _ := strconv.Atoi(e.Name()) // all are numbers
		if on, err := syscall.GetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_ACCEPTCONN); err != nil || on == 0 {
			continue
		}
		switch at, _ := syscall.Getsockname(fd); at := at.(type) {
		case *syscall.SockaddrInet4:
			if at.Port == port {
				fds = append(fds, fd)
			}
		case *syscall.SockaddrInet6:
			if at.Port == port {
				fds = append(fds, fd)
			}
		}
	}
	return fds, err
}
