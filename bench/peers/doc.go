// Command peers measures heed and its alternatives on the same lines and in the same run. It is a module of its own, so
// that users of heed never download the others. Run it in its own folder:
//
//	cd bench/peers && go run .
//	cd bench/peers && go run . -runs 21 -corpus ids,same -json
//
// # Measurement
//
// Each contender gets every corpus as it would get lines from a host, one after the other, on one goroutine; the time
// is the time of the intake. A run starts a fresh instance, passes all lines once ("new"), and then again for 20 ms
// ("known"). On Unix the time is the CPU time of the process, the garbage collector's included, since the machine may
// have others to serve; elsewhere it is the time of day. Runs are interleaved: each goes through all corpora and all
// contenders, in turning order, so that a slow spell of the machine affects all. Shown are medians over the runs, half
// the distance between their quartiles, and the median of the ratios within each run.
//
// The peers do different things, and the table has the number of remaining lines: a sampler that drops a line is faster
// than anything that looks at it. Peers that take the time as an argument are given one; zerolog and logdedup read the
// clock themselves. Making OpenTelemetry's records, and writing out the lines that samplers pass, are not timed.
//
// Memory is the memory for whole corpora, of one contender at a time.
package main
