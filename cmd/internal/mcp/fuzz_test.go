package mcp_test

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed"
	"github.com/heedlog/heed/cmd/internal/jsonrpc"
	"github.com/heedlog/heed/cmd/internal/session"
	"github.com/heedlog/heed/event"
	"github.com/heedlog/heed/internal/testkit"
)

// FuzzProxy plays a client and a server by a script, a step in a line: C and a line of the client, S and a line of the
// server, A and the members of an answer of the server to the oldest open request, F for a fault in the log.
//
// Lines of the client reach the server byte for byte, or not at all, and lines of the server the client. Each of its requests gets one
// answer with its id, byte for byte; a canceled one none or one. All that heed writes itself is JSON-RPC.
func FuzzProxy(f *testing.F) {
	for _, script := range []string{
		"C" + hello + "\nA" + `"result":{"capabilities":{}}` + "\nC" + inited + "\nF\nC" + build,
		"C" + build + "\nA" + built + "\nC" + build + "\nA" + `"error":{"code":1}` + "\nF\nC" + build,
		"C" + build + "\nC" + build + "\nC[" + build + "]\nS[{\"method\":\"x\"}]\nSnot JSON\nC{}",
		"C" + build + "\nC" + `{"method":"notifications/cancelled","params":{"requestId":7}}` + "\nC" + build,
		"C" + typed(build) + "\nA" + wanted + "\nC" + typed(goesOn) + "\nA" + done,
		"C" + `{"id":1.0,"method":"tools/list"}` + "\nA" + `"result":{"tools":[{"name":"heed_ack"}]}` + "\nC" +
			`{"id":1,"method":"tools/call","params":{"name":"heed_status"}}`,
		"C" + `{"id":null,"method":"tools/call"}` + "\nC" + `{"id":[1],"method":"resources/read","params":{"uri":"gabp://x"}}`,
		"C" + `{"method":"tools/call"}` + "\nC" + `{"id":9007199254740993,"method":"tools\/call","params":[]}` + "\nC\r\nC x",
	} {
		f.Add(script)
	}
	f.Fuzz(func(t *testing.T, script string) { synctest.Test(t, func(t *testing.T) { play(t, script) }) })
}

// lines takes what a proxy writes.
type lines struct{ testkit.Buffer }

func (l *lines) all() (all []string) {
	for line := range strings.Lines(l.String()) {
		all = append(all, strings.TrimSuffix(line, "\n"))
	}
	return all
}

// members returns the members of a message, nil where two readers could understand it differently.
func members(line string) map[string]string {
	if v := jsontext.Value(line); v.Kind() != '{' || !v.IsValid() || strings.ContainsRune(line, '\r') {
		return nil
	}
	all := map[string]string{}
	d := jsontext.NewDecoder(strings.NewReader(line))
	for _, _ = d.ReadToken(); d.PeekKind() == '"'; {
		token, _ := d.ReadToken()
		name := token.String()
		value, _ := d.ReadValue()
		for _, known := range []string{"id", "method", "params"} {
			if name != known && strings.EqualFold(name, known) {
				return nil
			}
		}
		all[name] = string(value)
	}
	return all
}

// isRequest reports whether a message is one that gets an answer.
func isRequest(m map[string]string) bool {
	return strings.HasPrefix(m["method"], `"`) && m["method"] != `""` && m["id"] != "" && m["id"] != "null"
}

func play(t *testing.T, script string) {
	steps := strings.Split(script, "\n")
	if len(steps) > 40 {
		t.Skip("long")
	}
	b := &between{t: t, config: session.Config{NoDefaults: true}} // to compile rules takes long
	fromClient, toProxy := io.Pipe()
	fromServer, toClient := io.Pipe()
	client, server := &lines{}, &lines{}
	b.toProxy, b.toClient = toProxy, toClient
	b.run(fromClient, fromServer, client, server)
	var sent, told []string      // lines of the client, and of the server of its own
	asked := map[string]int{}    // requests of the client, by their ids
	stopped := map[string]bool{} // the ids of those that it canceled
	answered, refused := 0, 0
	for _, step := range steps {
		if step == "" {
			continue
		}
		line := strings.TrimRight(step[1:], "\r")
		m := members(line)
		switch step[0] {
		case 'C':
			b.ask(step[1:])
			if line == "" {
				break
			}
			sent = append(sent, line)
			switch {
			case m == nil:
				refused++
			case isRequest(m):
				asked[m["id"]]++
			case strings.Contains(m["method"], "cancelled"):
				stopped[jsonrpc.Key(jsontext.Value(members(m["params"])["requestId"]))] = true
			}
		case 'S':
			if v := jsontext.Value(line); line != "" && v.Kind() != '[' && !strings.Contains(line, "id") {
				told = append(told, line)
				b.serve(line)
			}
		case 'A':
			got := slices.DeleteFunc(server.all(), func(line string) bool { return !isRequest(members(line)) })
			answer := `{"jsonrpc":"2.0","id":`
			whole := answer + "0," + line + "}"
			if answered < len(got) && jsontext.Value(whole).IsValid() && members(whole)["method"] == "" {
				b.serve(answer + members(got[answered])["id"] + "," + line + "}")
				answered++
			}
		case 'F':
			b.session.Raise(heed.Report{Key: "fault", Disposition: event.Blocking, Message: "It broke."})
		}
		synctest.Wait()
	}
	require.NoError(t, toProxy.Close())
	synctest.Wait()
	require.NoError(t, toClient.Close())
	synctest.Wait()

	for _, line := range server.all() {
		i := slices.Index(sent, line)
		require.GreaterOrEqual(t, i, 0, "not of the client: %s", line)
		sent = slices.Delete(sent, i, i+1)
	}
	answers := map[string]int{}
	for _, line := range client.all() {
		if i := slices.Index(told, line); i >= 0 {
			told = slices.Delete(told, i, i+1)
			continue
		}
		m := members(line)
		require.NotNil(t, m, line)
		require.Equal(t, `"2.0"`, m["jsonrpc"], line)
		switch {
		case m["method"] != "": // of heed's own
			require.Empty(t, m["id"])
		case m["id"] == "null":
			require.NotEmpty(t, m["error"])
			refused--
		default:
			answers[m["id"]]++
		}
	}
	require.Empty(t, told, "lines of the server are passed on")
	require.Zero(t, refused, "what is no message is refused")
	for id, n := range asked {
		if stopped[jsonrpc.Key(jsontext.Value(id))] {
			require.LessOrEqual(t, answers[id], n, id)
		} else {
			require.Equal(t, n, answers[id], id)
		}
		delete(answers, id)
	}
	require.Empty(t, answers, "nobody asked")
}

// TestTranscripts plays the transcripts of testdata. A step is a line: C> and S> are sent by the client and the server, C<
// and S< are what they get, where ... stands for any text, C>S and S>C pass byte for byte, and log is a line of the game.
// _V stands for the version of a request of 2026-07-28. After the last step, neither gets anything.
func TestTranscripts(t *testing.T) {
	files := testkit.Must(filepath.Glob("testdata/transcripts/*.txt"))
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text := testkit.Must(os.ReadFile(file))
			b := begin(t)
			for line := range strings.Lines(string(text)) {
				kind, line, _ := strings.Cut(strings.TrimSpace(line), " ")
				line = strings.ReplaceAll(line, "_V", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`)
				switch kind {
				case "", "#":
				case "log":
					b.log(line)
				case "C>S":
					b.ask(line)
					require.Equal(t, line, b.take(b.server))
				case "S>C":
					b.serve(line)
					require.Equal(t, line, b.take(b.client))
				case "C>":
					b.ask(line)
				case "S>":
					b.serve(line)
				case "C<":
					requireLike(t, line, b.take(b.client))
				case "S<":
					requireLike(t, line, b.take(b.server))
				default:
					require.Fail(t, "no step", kind)
				}
			}
			ping := `{"jsonrpc":"2.0","id":"last","method":"ping"}`
			require.Equal(t, `{"jsonrpc":"2.0","id":"last","result":{}}`, b.asks(ping, `"result":{}`))
		})
	}
}

// requireLike holds a line to a form in which ... stands for any text.
func requireLike(t *testing.T, form, got string) {
	t.Helper()
	re := "^" + strings.ReplaceAll(regexp.QuoteMeta(form), regexp.QuoteMeta("..."), ".*") + "$"
	require.Regexp(t, re, got)
}
