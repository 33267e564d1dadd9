package command

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"github.com/heedlog/heed/cmd/internal/readlog"
	"github.com/heedlog/heed/internal/testkit"
)

// The parts of a page that say nothing about a log.
var (
	pageStyle  = regexp.MustCompile(`(?s)<style>.*?</style>`)
	pageScript = regexp.MustCompile(`(?s)<script>.*</script>`)
	pageHashes = regexp.MustCompile(`sha256-.*?&#39;`)
)

// TestReportGolden compares the page about one capture with the golden file,
// without its style and script. Run it with -update to write it.
func TestReportGolden(t *testing.T) {
	path := filepath.Join(ownCaptures, "cascade-1.6.log")
	r := ends(t, exitOK, "report", path)
	require.Empty(t, r.stderr)
	got := strings.ReplaceAll(r.stdout, path, "cascade-1.6.log")
	got = pageStyle.ReplaceAllString(got, "<style></style>")
	got = pageScript.ReplaceAllString(got, "<script></script>")
	got = pageHashes.ReplaceAllString(got, "sha256-&#39;")
	testkit.Golden(t, "testdata/report.html", got)
}

// TestReportScrubs: the name of the user's home is private.
func TestReportScrubs(t *testing.T) {
	home := filepath.Join(t.TempDir(), "people", "quillon")
	require.NoError(t, os.MkdirAll(home, 0o700))
	log := filepath.Join(home, "Player.log")
	require.NoError(t, os.WriteFile(log, []byte("cannot save\n"), 0o600))
	t.Setenv("HOME", home)
	require.NotContains(t, runArgs(t, "report", log).stdout, "quillon")
}

// attacks are lines that do something where a page takes text for anything else.
var attacks = []string{
	`<script>document.documentElement.dataset.owned = 1</script>`,
	`</script><script>document.documentElement.dataset.owned = 1</script>`,
	`</pre></code></td></table></details></main><h1 id="owned">owned</h1>`,
	`<img src=x onerror="document.documentElement.dataset.owned=1">`,
	`<svg/onload=document.documentElement.dataset.owned=1>`,
	`"><a href="javascript:document.documentElement.dataset.owned=1" id=owned>x</a>`,
	`' onmouseover='document.documentElement.dataset.owned=1`,
	`<style>body{display:none}</style>`,
	`<link rel=stylesheet href="data:text/css,body{display:none}">`,
	`<iframe srcdoc="<script>parent.document.documentElement.dataset.owned=1</script>"></iframe>`,
	`<meta http-equiv="refresh" content="0;url=data:text/html,owned">`,
	`<base href="http://192.0.2.1/"><form action="http://192.0.2.1/"><button autofocus onfocus=alert(1)>`,
	`<!-- <![CDATA[ {{.Script}} ${document.documentElement.dataset.owned=1} --!>`,
	"\u202eowned\u2066 \u2028 \x1b]0;owned\x07 &lt;script&gt; &#x3c;script&#x3e; \xff\xfe",
	`{"__proto__":{"owned":1}} </SCRIPT ><SCRIPT>document.documentElement.dataset.owned=1</SCRIPT>`,
}

// attackLog is a log in which each attack is a message, an exception, a frame and
// the name of a mod.
func attackLog() string {
	var b strings.Builder
	for _, a := range attacks {
		b.WriteString(a + "\n")
		b.WriteString("Exception ticking " + a + ": System.NullReferenceException: " + a + "\n  at " + a + ".Foo () [0x00000] in <0123456789abcdef0123456789abcdef>:0\n\n")
		b.WriteString("Mod " + a + " is missing packageId in About.xml!\n")
		b.WriteString("[" + a + "] Could not load reference to Verse.ThingDef named " + a + "\n")
	}
	b.WriteString("Reached max messages limit. Stopping logging to avoid spam.\n")
	return b.String()
}

func TestHostileLogAddsNothingToThePage(t *testing.T) {
	r := runWith(t.Context(), attackLog(), "report", "-")
	require.Equal(t, exitOK, r.status, r.stderr)
	requireNothingAdded(t, r.stdout)
	for _, shown := range []string{`<script>document.documentElement.dataset.owned = 1</script>`, `\u202eowned\u2066`} {
		require.Contains(t, pageText(t, r.stdout), shown, "what a line says can be read")
	}
}

// requireNothingAdded fails for an element that only a line of a log can have made.
func requireNothingAdded(t *testing.T, page string) {
	t.Helper()
	doc := testkit.Must(html.Parse(strings.NewReader(page)))
	scripts := 0
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "script":
			scripts++
		case "img", "iframe", "link", "base", "object", "embed":
			require.Failf(t, "added", "<%s> in the page", n.Data)
		}
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on"), "<%s %s> in the page", n.Data, a.Key)
			require.NotEqual(t, "owned", a.Val)
			require.NotEqual(t, "data-owned", a.Key)
			require.NotContains(t, a.Key, "refresh")
			require.False(t, a.Key == "href" && !strings.HasPrefix(a.Val, "#"), a.Val)
		}
	}
	require.Equal(t, 1, scripts)
}

func pageText(t *testing.T, page string) string {
	t.Helper()
	doc := testkit.Must(html.Parse(strings.NewReader(page)))
	var b strings.Builder
	for n := range doc.Descendants() {
		if n.Type == html.TextNode && n.Parent.Data != "script" {
			b.WriteString(n.Data)
		}
	}
	return b.String()
}

// inBrowser names a browser of the Chromium family. A test does not depend on what
// happens to be installed, so nothing is looked for.
var inBrowser = flag.String("browser", "", "open pages in this `PROGRAM`, too")

func needsBrowser(t *testing.T) {
	t.Helper()
	if *inBrowser == "" {
		t.Skip("give -browser, as in: go test ./cmd/internal/command -run Page -browser chromium")
	}
}

// browse opens a page in a browser without a window, and returns the document as it
// is after its scripts ran, and what they wrote to the console.
func browse(t *testing.T, page string, flags ...string) (dom, console string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	profile := testkit.Must(os.MkdirTemp("", "heed-browser"))
	// not TempDir: a process of the browser that outlives it may still write there
	defer func() { _ = os.RemoveAll(profile) }()
	args := append([]string{
		"--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
		"--virtual-time-budget=2000", "--timezone-for-testing=UTC",
		"--user-data-dir=" + profile, "--window-size=1280,900",
	}, flags...)
	cmd := exec.CommandContext(ctx, *inBrowser, append(args, "--dump-dom",
		"file://"+filepath.ToSlash(write(t, "page.html", page)))...)
	cmd.WaitDelay = 10 * time.Second
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	var lines []string
	for line := range strings.Lines(stderr.String()) {
		if strings.Contains(line, "CONSOLE") {
			lines = append(lines, line)
		}
	}
	return string(out), strings.Join(lines, "")
}

func TestPageInABrowser(t *testing.T) {
	needsBrowser(t)
	for _, name := range []string{"colony-1.6.log", "operations.jsonl", "healthy-1.6.log"} {
		page := runArgs(t, "report", filepath.Join(ownCaptures, name)).stdout
		dom, console := browse(t, page)
		require.Empty(t, console, name)
		require.Equal(t, name != "healthy-1.6.log", strings.Contains(dom, `class="sketch"`), "a chart where there is something to see")
		require.NotContains(t, dom, `<form class="filter" hidden`)
	}
}

func TestHostilePageInABrowser(t *testing.T) {
	needsBrowser(t)
	dom, console := browse(t, runWith(t.Context(), attackLog(), "report", "-").stdout)
	require.Empty(t, console)
	requireNothingAdded(t, dom)
}

// keyboardSession goes through a page as a person with a keyboard does, and says in the
// document what went wrong.
const keyboardSession = `
addEventListener("load", () => {
	const wrong = [];
	const check = (what, is) => is || wrong.push(what);
	const key = (key, on = document.activeElement || document.body) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true }));
	const shown = () => [...document.querySelectorAll(".group")].filter((g) => !g.hidden);
	const all = shown().length;
	const search = document.querySelector(".filter input[type=search]");
	key("/");
	check("slash searches", document.activeElement === search);
	search.value = "QUARRY yields";
	search.dispatchEvent(new Event("input", { bubbles: true }));
	check("search finds", shown().length === 1 && /quarry/i.test(shown()[0].textContent));
	check("search counts", document.querySelector(".filter output").textContent === "1 of " + all + " shown");
	search.value = "no such text";
	search.dispatchEvent(new Event("input", { bubbles: true }));
	check("nothing matches", shown().length === 0 && document.querySelector(".filter output").textContent === "nothing matches");
	search.value = "";
	search.dispatchEvent(new Event("input", { bubbles: true }));
	check("all again", shown().length === all);
	search.value = "quarry";
	search.dispatchEvent(new Event("input", { bubbles: true }));
	search.form.requestSubmit();
	check("enter goes to what was found", document.activeElement === shown()[0].firstElementChild);
	const groupOf = (a) => document.getElementById(a.hash.slice(1)).closest(".group");
	const link = [...document.querySelectorAll(".cause a.rule-link")].find((a) => groupOf(a).hidden);
	const target = groupOf(link);
	check("the group is filtered out", !target.open);
	location.hash = link.hash;
	dispatchEvent(new HashChangeEvent("hashchange"));
	check("a link to a group shows it", !target.hidden && target.open && shown().length === all && search.value === "");
	target.open = false;
	key("/");
	check("escape does not empty the search", !search.dispatchEvent(new KeyboardEvent("keydown", { key: "Escape", bubbles: true, cancelable: true })));
	check("escape leaves", document.activeElement !== search);
	key("j");
	key("j");
	check("j goes down", document.activeElement === shown()[1].firstElementChild);
	key("k");
	check("k goes up", document.activeElement === shown()[0].firstElementChild);
	document.activeElement.click();
	check("opens", shown()[0].open);
	const select = document.querySelector(".sort select");
	for (const [order, of] of [["count", (g) => -g.dataset.count], ["first", (g) => +g.dataset.first], ["last", (g) => -g.dataset.last]]) {
		select.value = order;
		select.dispatchEvent(new Event("change", { bubbles: true }));
		const numbers = shown().map(of);
		check("sorted by " + order, numbers.every((n, i) => i === 0 || numbers[i - 1] <= n));
	}
	const box = document.querySelector(".check.ignore input");
	box.checked = false;
	box.dispatchEvent(new Event("input", { bubbles: true }));
	check("ignored are hidden", shown().length < all && shown().every((g) => g.dataset.disposition !== "ignore"));
	key("?", document.body);
	check("help opens", document.querySelector("#help").open);
	document.querySelector("#help").close();
	key("t", document.body);
	const one = document.documentElement.dataset.theme;
	key("t", document.body);
	check("theme", one && one !== document.documentElement.dataset.theme);
	const copies = [...document.querySelectorAll(".copy button")];
	check("a copy of the verdict and of each cause", copies.length === 1 + document.querySelectorAll(".cause").length);
	let copied = "";
	Object.defineProperty(navigator, "clipboard", { configurable: true, value: { writeText: (text) => ((copied = text), Promise.resolve()) } });
	copies[0].click();
	check("the verdict is copied", copied.startsWith("### \x60") && copied.includes("- environment: \x60RimWorld "));
	copies[1].click();
	check("a cause is copied", copied.startsWith("#### ") && copied.includes("\x60\x60\x60text\n"));
	Object.defineProperty(navigator, "clipboard", { configurable: true, value: undefined });
	copies[1].click();
	const area = document.querySelector(".copy textarea");
	check("without a clipboard the text is selected", area && area === document.activeElement && area.value === copied && area.selectionEnd === copied.length);
	document.documentElement.dataset.session = wrong.length ? wrong.join("; ") : "fine";
});
`

func TestPageWithAKeyboard(t *testing.T) {
	needsBrowser(t)
	page := runArgs(t, "report", filepath.Join(ownCaptures, "colony-1.6.log")).stdout
	dom, console := browse(t, withScript(t, page, keyboardSession))
	require.Empty(t, console)
	found := regexp.MustCompile(`data-session="([^"]*)"`).FindStringSubmatch(dom)
	require.NotNil(t, found, "the session came to its end")
	require.Equal(t, "fine", found[1])
}

// fits says in the document which elements are wider than the window.
const fits = `
addEventListener("load", () => {
	for (const d of document.querySelectorAll("details")) d.open = true;
	const root = document.documentElement;
	const wide = [...document.querySelectorAll("main *")].filter((e) => e.getBoundingClientRect().right > innerWidth + 1 && !e.closest(".scroll, svg"));
	root.dataset.session = innerWidth > 500 ? "the window is not narrow" : root.scrollWidth > innerWidth ? "wide: " + wide.map((e) => e.tagName + "." + e.className).join(" ") : "fine";
});
`

func TestPageFitsAPhone(t *testing.T) {
	needsBrowser(t)
	long := "Mod " + strings.Repeat("Длинное_название_мода_한국어", 40) + " is missing packageId in About.xml!\n"
	hostile := runWith(t.Context(), attackLog()+long, "report", "-").stdout
	clock := runArgs(t, "report", filepath.Join(ownCaptures, "operations.jsonl"),
		filepath.Join(ownCaptures, "colony-1.6.log")).stdout
	for _, page := range []string{hostile, clock} {
		dom, console := browse(t, withScript(t, page, fits), "--window-size=390,800")
		require.Empty(t, console)
		require.Contains(t, dom, `data-session="fine"`, regexp.MustCompile(`data-session="([^"]*)"`).FindString(dom))
	}
}

func TestPageWithoutScripts(t *testing.T) {
	needsBrowser(t)
	page := runArgs(t, "report", filepath.Join(ownCaptures, "colony-1.6.log")).stdout
	// A policy without the script keeps it from running.
	page = regexp.MustCompile(`script-src .*?; style-src`).ReplaceAllString(page, "script-src &#39;none&#39;; style-src")
	dom, console := browse(t, page)
	require.Contains(t, console, "Content Security Policy")
	require.Contains(t, dom, `class="sketch"`, "a picture of the timeline")
	require.Contains(t, dom, `<form class="filter" hidden`, "nothing is offered that does not work")
	require.Contains(t, dom, `<form class="find" hidden`)
	require.NotRegexp(t, `<button[^>]*>Copy as Markdown`, dom)
	require.Contains(t, dom, `<td class="name">oakapple.riverboats`)
}

// TestPageRefusesOtherScripts shows that the policy of the page is in force: a
// script that it does not name does not run.
func TestPageRefusesOtherScripts(t *testing.T) {
	needsBrowser(t)
	page := runArgs(t, "report", filepath.Join(ownCaptures, "healthy-1.6.log")).stdout
	page = strings.Replace(page, "</body>", `<script>document.documentElement.dataset.owned = 1</script><img src="data:," onerror="document.documentElement.dataset.owned=1"></body>`, 1)
	dom, console := browse(t, page)
	require.Contains(t, console, "Content Security Policy")
	require.NotContains(t, dom, "data-owned=")
}

// withScript returns the page with more in its script, and the policy to match.
func withScript(t *testing.T, page, more string) string {
	t.Helper()
	script := pageScript.FindString(page)
	old := strings.TrimSuffix(strings.TrimPrefix(script, "<script>"), "</script>")
	hash := func(s string) string {
		sum := sha256.Sum256([]byte(s))
		return html.EscapeString(base64.StdEncoding.EncodeToString(sum[:]))
	}
	escaped := func(s string) string { return strings.ReplaceAll(s, "+", "&#43;") }
	require.Contains(t, page, escaped(hash(old)))
	page = strings.Replace(page, escaped(hash(old)), escaped(hash(old+more)), 1)
	return strings.Replace(page, old, old+more, 1)
}

// TestNewPage holds what a browser shows to what the commands write.
func TestNewPage(t *testing.T) {
	set := defaultRules(t)
	older, newer := filepath.Join(ownCaptures, "advisory-1.4.log"), filepath.Join(ownCaptures, "burst-1.4.log")
	opened := map[string]int{}
	open := func(name string) (io.ReadCloser, error) {
		opened[name]++
		return os.Open(name)
	}
	output := func(args ...string) string { return runArgs(t, args...).stdout }

	page := testkit.Must(readlog.NewPage(set, "", []string{newer}, false, open))
	require.Equal(t, output("report", newer, "-o", "-"), string(page.HTML))
	require.Equal(t, output("--format", "markdown", newer), string(page.Markdown))
	require.Nil(t, page.Difference)
	require.Equal(t, map[string]int{newer: 1}, opened)
	page = testkit.Must(readlog.NewPage(set, "", []string{newer}, true, open))
	require.Equal(t, output("--format", "markdown", "--scrub=strict", newer), string(page.Markdown))
	clear(opened)

	page = testkit.Must(readlog.NewPage(set, "", []string{older, newer}, false, open))
	require.Equal(t, map[string]int{older: 1, newer: 1}, opened)
	require.Equal(t, output("diff", older, newer, "--width", "100", "--top", "0", "--scrub"), string(page.Difference))
	require.Equal(t, output("suspects", older, newer, "--width", "100", "--top", "0", "--scrub"), string(page.Suspects))

	gone := func(name string) (io.ReadCloser, error) {
		if name == "gone.log" {
			return nil, errors.New("the file is gone")
		}
		return open(name)
	}
	page, err := readlog.NewPage(set, "", []string{"gone.log", newer}, false, gone)
	require.ErrorContains(t, err, "the file is gone")
	require.Contains(t, string(page.HTML), "burst-1.4.log")
	require.Nil(t, page.Difference)
	page, err = readlog.NewPage(set, "", []string{"picture.png"}, false, func(string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader("\x89PNG\r\n\x1a\n" + strings.Repeat("\x00\x01\xff", 1000))), nil
	})
	require.ErrorContains(t, err, "picture.png")
	require.Nil(t, page)
}
