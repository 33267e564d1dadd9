// Package jsonrpc runs between a client and the program that it talks to. Both write JSON-RPC messages, each as a line.
//
//	client:   {"jsonrpc":"2.0","id":1,"method":"x"}       FromClient(line), which writes it to the program
//	program:  {"jsonrpc":"2.0","id":1,"result":{}}        FromProgram(line), which writes it to the client
//	client:   end of its output                           Settle, the program has all lines, Left
//	program:  end of its output                           Settle, Ended answers open requests, both have all lines
//
// A [Between] reads lines and writes lines; packages mcp and acp decide which. A line is bounded: an error takes the
// place of a longer answer, a longer request is refused, and both sides stay. More is read of a program only while
// little waits to be written to the other. [Open] holds the requests without an answer, by [Key].
package jsonrpc
