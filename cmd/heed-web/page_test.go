//go:build !js

package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/heedlog/heed/internal/testkit"
	"github.com/heedlog/heed/rules"
)

var (
	inBrowser = flag.String("browser", "", "open the page in this `PROGRAM` of the Chromium family")
	shots     = flag.String("shots", "", "write pictures of the page to this `FOLDER`")
)

// patience bounds each wait for the browser, also on a slow machine.
const patience = 2 * time.Minute

func TestFiles(t *testing.T) {
	pages := pageFiles()
	index := string(pages["index.html"])
	require.Contains(t, index, "default-src &#39;none&#39;", "nothing is allowed that is not named")
	require.Contains(t, index, "sha256-")
	require.Contains(t, index, `<td>rimworld</td><td>Windows</td>`)
	for name, data := range pages {
		require.NotContains(t, strings.ReplaceAll(string(data), "http://www.w3.org/2000/svg", ""), "://", name)
	}
	for _, id := range []string{"files", "strict", "status", "progress", "error", "result", "again", "copy", "markdown", "save", "swap", "report"} {
		require.Contains(t, index, `id="`+id+`"`)
	}
}

// TestTexts: each language of the rules has each text of the page, and no other.
func TestTexts(t *testing.T) {
	read := func(name string) string {
		data := testkit.Must(static.ReadFile("static/" + name))
		return string(data)
	}
	english := map[string]bool{}
	for _, m := range regexp.MustCompile(`say\('([^']+)'`).FindAllStringSubmatch(read("page.js"), -1) {
		english[m[1]] = true
	}
	page := testkit.Must(html.Parse(strings.NewReader(read("index.html"))))
	letters := regexp.MustCompile(`^[^{]*\pL`)
	for n := range page.Descendants() {
		for _, a := range n.Attr {
			if a.Key == "aria-label" || a.Key == "title" {
				english[a.Val] = true
			}
		}
		if s := strings.TrimSpace(n.Data); n.Type == html.TextNode && n.Parent.Data != "noscript" && letters.MatchString(s) {
			english[s] = true
		}
	}
	_, data, _ := strings.Cut(read("texts.js"), "const texts =")
	var texts map[string]map[string]string
	require.NoError(t, json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(data), ";")), &texts))
	require.Equal(t, rules.Languages(), slices.Sorted(maps.Keys(texts)))
	for language, own := range texts {
		require.Equal(t, slices.Sorted(maps.Keys(english)), slices.Sorted(maps.Keys(own)), language)
		for text, translated := range own {
			require.NotEmpty(t, translated, "%s: %s", language, text)
			require.Equal(t, strings.Count(text, "%s"), strings.Count(translated, "%s"), "%s: %s", language, text)
		}
	}
}

// ofTheBrowser reports whether a host is one that Chromium itself asks, whatever the page is.
func ofTheBrowser(host string) bool {
	host, _, _ = strings.Cut(host, ":")
	return strings.HasSuffix(host, ".google.com") || strings.HasSuffix(host, ".googleapis.com")
}

// leaks tries to reach another host in each way that a page, a worker of it and a report in it have.
const leaks = `(() => {
	const to = "http://other.invalid/";
	fetch(to).catch(() => {});
	new Image().src = to;
	navigator.sendBeacon(to, "x");
	const frame = document.createElement("iframe");
	frame.src = to;
	document.body.append(frame);
	const script = document.createElement("script");
	script.src = to;
	document.body.append(script);
	const code = 'fetch("' + to + '").catch(() => {}); try { importScripts("' + to + '") } catch { } postMessage("tried")';
	const worker = new Worker(URL.createObjectURL(new Blob([code], {type: "text/javascript"})));
	worker.onmessage = () => { window.tried = true };
	document.querySelector("#report").srcdoc = '<img src="' + to + '"><link rel=stylesheet href="' + to + '">';
})()`

// shoot writes a picture of the page.
func shoot(t *testing.T, b *testkit.Tab, file string) {
	var picture struct{ Data []byte }
	require.NoError(t, json.Unmarshal(b.Call("Page.captureScreenshot", nil), &picture))
	require.NoError(t, os.WriteFile(file, picture.Data, 0o600))
}

// choose gives files to the input of the page, as if a person chose them.
func choose(t *testing.T, b *testkit.Tab, files ...string) {
	t.Helper()
	var node struct{ Result struct{ ObjectID string } }
	found := b.Call("Runtime.evaluate", map[string]any{"expression": `document.querySelector("#files")`})
	require.NoError(t, json.Unmarshal(found, &node))
	b.Call("DOM.setFileInputFiles", map[string]any{"files": files, "objectId": node.Result.ObjectID})
}

// TestBrowser drops logs on the page. The browser sends each request to a proxy, which fails the test on any that goes
// to another host than the page's.
func TestBrowser(t *testing.T) {
	if *inBrowser == "" {
		t.Skip("give -browser, as in: go test ./cmd/heed-web -run Browser -browser chromium")
	}
	folder := t.TempDir()
	require.NoError(t, build(folder))
	packed := testkit.Must(os.Stat(filepath.Join(folder, program)))
	require.Less(t, packed.Size(), int64(4_400_000), "the page is to be there in seconds")

	var mu sync.Mutex
	var others []string
	stopped := false
	files := http.FileServer(http.Dir(folder))
	var own string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		off := stopped
		if r.Host != own && !ofTheBrowser(r.Host) {
			others = append(others, r.Method+" "+r.Host+r.URL.Path)
		}
		mu.Unlock()
		if off || r.Host != own || r.Method != http.MethodGet {
			http.Error(w, "no", http.StatusBadGateway)
			return
		}
		files.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	at := testkit.Must(url.Parse(server.URL))
	own = at.Host

	b := testkit.OpenTab(t, *inBrowser, server.URL+"/", patience,
		"--proxy-server="+at.Host, "--proxy-bypass-list=<-loopback>")
	loaded := func() { b.Eventually(`document.readyState === "complete" && document.querySelector("#drop") !== null`) }
	loaded()
	size := func(width int) {
		b.Call("Emulation.setDeviceMetricsOverride",
			map[string]any{"width": width, "height": 844, "deviceScaleFactor": 1, "mobile": false})
	}
	size(390) // a window of the browser is never as small
	picture := 0
	shot := func() {
		if *shots != "" {
			picture++
			shoot(t, b, filepath.Join(*shots, fmt.Sprintf("page-%d.png", picture)))
		}
	}
	shot()
	watch := func() {
		b.Eval(`document.querySelector("#report").onload = (e) => { window.loaded = e.target.srcdoc.length };
		window.refused = 0; document.addEventListener("securitypolicyviolation", () => window.refused++)`)
	}
	watch()
	const shown = `!document.querySelector("#result").hidden`
	const frame = `document.querySelector("#report").srcdoc`
	captures := filepath.Join("..", "..", "testdata", "captures")
	logs := testkit.Must(filepath.Glob(filepath.Join(captures, "*.log")))
	for _, log := range logs {
		log := testkit.Must(filepath.Abs(log))
		choose(t, b, log)
		b.Eventually(shown)
		require.Equal(t, "true", b.Eval(frame+`.includes("<title>")`), log)
		b.Eventually(`window.loaded === document.querySelector("#report").srcdoc.length`)
		require.Equal(t, "false", b.Eval(`document.documentElement.scrollWidth > innerWidth`), "it fits a phone")
		shot()
		b.Eval(`document.querySelector("#again").click()`)
	}
	require.Equal(t, "0", b.Eval(`window.refused`), "the policy allows all that the page does")
	b.Eval(leaks)
	b.Eventually(`window.tried === true`)
	mu.Lock()
	require.Empty(t, others, "requests to other hosts")
	stopped = true
	mu.Unlock()

	// The service worker has the page by now.
	b.Eventually(`navigator.serviceWorker.controller !== null`)
	b.Call("Page.reload", nil)
	loaded()
	first := testkit.Must(filepath.Abs(logs[0]))
	second := testkit.Must(filepath.Abs(logs[1]))
	choose(t, b, first, second)
	b.Eventually(shown)
	require.Equal(t, "true", b.Eval(`document.querySelector("#difference pre").textContent.length > 50`))
	shot()
	size(1280)
	shot()

	var agent string
	require.NoError(t, json.Unmarshal([]byte(b.Eval(`navigator.userAgent`)), &agent))
	for language, width := range map[string]int{"de": 390, "zh": 1280} {
		b.Call("Emulation.setUserAgentOverride", map[string]any{"userAgent": agent, "acceptLanguage": language})
		size(width)
		b.Call("Page.reload", nil)
		b.Eventually(`document.documentElement.lang === "` + language + `"`)
		loaded()
		require.Equal(t, "true", b.Eval(`document.title === texts.`+language+`["heed: what broke in your game?"]`))
		require.Equal(t, "false", b.Eval(`document.documentElement.scrollWidth > innerWidth`), "it fits")
		shot()
		watch()
		choose(t, b, first)
		b.Eventually(shown)
		b.Eventually(`window.loaded === document.querySelector("#report").srcdoc.length`)
		require.Equal(t, "true", b.Eval(frame+`.includes('<html lang="`+language+`">')`))
		shot()
	}
}
