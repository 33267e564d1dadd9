// Native is heed as a library for the process of a game, with a surface of C: see heed.h. It is built with
// -buildmode=c-shared, by build.sh, and does nothing as a program.
//
// No thread of the host runs Go: the functions of heed.h touch rings in memory, and threads of Go that wait in C drain
// them. A c-shared library runs its init functions on a thread of its own when it is loaded; they start the goroutine
// that serves what heed_open opens.
package main

func main() {}
