package follow

import (
	"fmt"
	"os"
	"syscall"
)

// openFile opens a file for reading so that the game may write, rename and delete it while it is open. os.Open would
// prevent the last two: it does not share the right to delete.
func openFile(name string) (*os.File, error) {
	path, err := syscall.UTF16PtrFromString(name)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	const share = syscall.FILE_SHARE_READ | syscall.FILE_SHARE_WRITE | syscall.FILE_SHARE_DELETE
	h, err := syscall.CreateFile(
		path, syscall.GENERIC_READ, share, nil, syscall.OPEN_EXISTING, syscall.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &os.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(h), name), nil
}

// fileID returns the volume and the index of a file, "" where they are not known.
func fileID(file *os.File) string {
	var i syscall.ByHandleFileInformation
	if syscall.GetFileInformationByHandle(syscall.Handle(file.Fd()), &i) != nil {
		return ""
	}
	return fmt.Sprintf("%x-%x%08x", i.VolumeSerialNumber, i.FileIndexHigh, i.FileIndexLow)
}
