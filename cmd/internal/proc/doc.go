// Package proc runs a program with all that it starts as one tree: nothing of it
// outlives the tree's end, nor the process that holds it.
//
// On Unix the tree is a process group of its own. The holder is guarded by a
// small second process, the program again, which learns from the end of a pipe that the
// holder has died, however it died, and kills the tree. On Linux the program is
// also set to die with its parent, descendants that left the group are found by
// a value that only their environment holds ([Config].Mark), and orphans are
// reaped. On Windows the tree is a job object that the kernel ends with the
// holder's last handle; no guard is needed.
//
// A program that exits with 0 while others of its tree go on is a launcher: the tree ends with the last of them, and on
// Linux has the status of the process that replaced it, the eldest of its children. If a process fails, its children
// are asked to end, and killed after the grace time.
//
// Some processes are out of reach: on Unix systems other than Linux, a descendant that made a session of its own;
// anywhere, a process that another program started on request, such as a service or a store client.
package proc
