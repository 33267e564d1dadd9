//go:build unix

package live

import (
	"encoding/json"
	"flag"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/internal/testkit"
)

// servePage serves a log with --web, and returns the log, the page's address and the state folder.
func servePage(t *testing.T) (log, address, state string) {
	_, log, rules, state := folder(t)
	write(t, log, "all is well\n")
	background(t, "serve", log, "--rules", rules, "--no-default-rules", "--state", state, "--web")
	await(t, func() bool {
		runs, err := stateDir(state).running()
		if err == nil && len(runs) == 1 {
			address = runs[0].Web
		}
		return address != ""
	})
	require.Regexp(t, `^http://127\.0\.0\.1:\d+/[0-9a-f]{32}/$`, address)
	out, _ := runCommand(t, "status", "--state", state)
	require.Contains(t, out, address)
	return log, address, state
}

// post makes a call of the page, as a browser does.
func post(t *testing.T, address, body string, header ...string) (int, string) {
	r := testkit.Must(http.NewRequestWithContext(t.Context(), http.MethodPost, address+"call", strings.NewReader(body)))
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	if host := r.Header.Get("Host"); host != "" {
		r.Host = host
	}
	resp := testkit.Must(http.DefaultClient.Do(r))
	defer resp.Body.Close() //nolint:errcheck // read to its end
	return resp.StatusCode, string(testkit.Must(io.ReadAll(resp.Body)))
}

func TestWeb(t *testing.T) {
	log, address, state := servePage(t)
	base := address[:strings.LastIndexByte(address[:len(address)-1], '/')]

	resp := testkit.Must(http.Get(address))
	page := testkit.Must(io.ReadAll(resp.Body))
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusOK, resp.StatusCode)
	require.Equal(t, webPage, page)
	require.NotRegexp(t, `(?i)https?://|\bsrc=|@import|innerHTML|insertAdjacentHTML|document\.write`, string(page),
		"it loads nothing, and no text becomes markup")
	policy := resp.Header.Get("Content-Security-Policy")
	require.Contains(t, policy, "default-src 'none'")
	require.Equal(t, 2, strings.Count(policy, "'sha256-"))
	require.NotContains(t, policy, "unsafe")

	const status = `{"method":"tools/call","params":{"name":"heed/status","arguments":{}}}`
	for _, c := range []struct {
		name   string
		url    string
		body   string
		header []string
		want   int
	}{
		{"a call", address, status, nil, http.StatusOK},
		{"by name", address, status, []string{"Host", "localhost" + base[strings.LastIndexByte(base, ':'):]}, http.StatusOK},
		{"from the page", address, status, []string{"Origin", base}, http.StatusOK},
		{"without the secret", base + "/", status, nil, http.StatusNotFound},
		{"with another", base + "/" + strings.Repeat("0", 32) + "/", status, nil, http.StatusNotFound},
		{"from another site", address, status, []string{"Origin", "http://example.com"}, http.StatusForbidden},
		{"by another name", address, status, []string{"Host", "example.com"}, http.StatusForbidden},
		{"to the game", address, `{"method":"tools/call","params":{"name":"pawn/kill"}}`, nil, http.StatusForbidden},
		{"another method", address, `{"method":"state/set","params":{}}`, nil, http.StatusForbidden},
		{"no JSON", address, `{`, nil, http.StatusBadRequest},
		{"long", address, `{"method":"` + strings.Repeat("x", maxWebCall), nil, http.StatusBadRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			code, text := post(t, c.url, c.body, c.header...)
			require.Equal(t, c.want, code, text)
		})
	}

	write(t, log, "FAULT one\n")
	var open struct{ Result bridge.Items }
	await(t, func() bool {
		_, text := post(t, address, `{"method":"tools/call","params":{"name":"heed/items"}}`)
		require.NoError(t, json.Unmarshal([]byte(text), &open))
		return len(open.Result.Items) == 1
	})
	_, text := post(t, address, `{"method":"tools/call","params":{"name":"heed/item","arguments":{"id":"nothing"}}}`)
	require.Contains(t, text, `"error":{"code":-32602`)
	_, text = post(t, address, `{"method":"attention/ack","params":{"attentionId":"`+open.Result.Items[0].ID+`"}}`)
	require.Contains(t, text, `"acknowledged":true`)
	out, _ := runCommand(t, "current", "--state", state)
	require.Contains(t, out, "nothing is open")
}

// TestWebUnderHalfRequests: requests whose header or body does not end, more than there may be, keep nobody out.
func TestWebUnderHalfRequests(t *testing.T) {
	t.Parallel()
	_, address, _ := servePage(t)
	_, host, _ := strings.Cut(address, "://")
	host, path, _ := strings.Cut(host, "/")
	for _, half := range []string{
		"", "GET / HTTP/1.1\r\nHost: ", "POST /" + path + "call HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 90\r\n\r\n{",
		"GET /" + path + " HTTP/1.1\r\nHost: " + host + "\r\nContent-Length: 90\r\n\r\n{",
	} {
		for range 200 {
			c := testkit.Must(net.Dial("tcp", host))
			t.Cleanup(func() { _ = c.Close() })
			_, _ = io.WriteString(c, half) // the server may have closed it
		}
		code, text := post(t, address, `{"method":"tools/call","params":{"name":"heed/status"}}`, "Connection", "close")
		require.Equal(t, http.StatusOK, code, text)
	}
}

func TestWebRefusesOtherMachines(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:1", "192.0.2.1:1", ":1", "127.0.0.1", "example.com:1", "[::]:1"} {
		var out, errs testkit.Buffer
		require.Equal(t, exitUsage, run(t.Context(), []string{"serve", "--web=" + addr, "a.log"}, nil, &out, &errs))
		require.Regexp(t, `--web.*: (use 127\.0\.0\.1$|.*missing port)`, strings.SplitN(errs.String(), "\n", 2)[0])
	}
}

var inBrowser = flag.String("browser", "", "open the live page in this `PROGRAM` of the Chromium family")

// openTab opens address in the browser that the flag names.
func openTab(t *testing.T, address string) *testkit.Tab {
	if *inBrowser == "" {
		t.Skip("give -browser, as in: go test ./cmd/internal/command/live -run Page -browser chromium")
	}
	return testkit.OpenTab(t, *inBrowser, address, patience)
}

func TestPageInBrowser(t *testing.T) {
	log, address, _ := servePage(t)
	b := openTab(t, address)
	b.Eventually(`document.querySelector("h1").textContent === "Nothing is open."`)

	const hostile = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script>`
	write(t, log, strings.Repeat("FAULT one "+hostile+"\n", 30))
	b.Eventually(`document.querySelector("#state").className === "state blocking"`)
	b.Eventually(`document.querySelectorAll(".item.blocking button").length === 1`)
	b.Eventually(`[...document.querySelectorAll("#log li.blocking")].some(e => e.textContent.includes("<img src=x") && e.textContent.includes("×"))`)
	require.Equal(t, "0", b.Eval(`document.querySelectorAll("main img, main script").length`))
	require.Equal(t, "false", b.Eval(`document.title.includes("owned")`))
	require.Equal(t, "false", b.Eval(`document.documentElement.scrollWidth > innerWidth`), "it fits a phone")

	b.Eval(`before = document.querySelector(".item.blocking button"); before.focus()`)
	write(t, log, "FAULT one "+hostile+"\n")
	b.Eventually(`document.querySelector(".item .head").textContent.includes("×31")`)
	require.Equal(t, "true", b.Eval(`document.activeElement === before`), "what comes takes no focus and no click away")

	b.Eval(`document.activeElement.click()`)
	b.Eventually(`document.querySelector("h1").textContent === "Nothing is open."`)
	b.Eventually(`document.querySelector("#said").textContent.includes("is acknowledged")`)
	b.Eventually(`document.querySelector("#events").textContent.includes("acknowledged by a person")`)

	b.Eval(`ask = fetch; fetch = async (to, call) => call.body.includes('"heed/ack"') ?
		new Response('{"result":{"acknowledged":true,"covered":[{"attentionId":"r-1"},{"attentionId":"r-2"}]}}') : ask(to, call);
		acknowledge({attentionId: "r-1"}, document.createElement("button"))`)
	b.Eventually(`document.querySelector("#said").textContent.startsWith("item 1 is acknowledged, with item 2.")`)

	b.Eval(`history.replaceState(null, "", "/secret-of-an-earlier-run/")`)
	b.Eventually(`document.querySelector("#link").textContent.includes("has another address")`)
}
