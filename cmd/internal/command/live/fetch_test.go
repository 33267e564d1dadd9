package live

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/testkit"
)

// sharing is a server of logs, and a fetcher whose every address, of whatever host, leads to it.
func sharing(t *testing.T, h http.HandlerFunc) *fetcher {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	to := leading{server.Listener.Addr().String()}
	return &fetcher{transport: to, bytes: 4 << 10, unpacked: 16 << 10, wait: time.Minute}
}

// leading sends every request to one server, in plain HTTP.
type leading struct{ addr string }

func (l leading) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	own.Host, own.URL.Host, own.URL.Scheme = r.URL.Host, l.addr, "http"
	return http.DefaultTransport.RoundTrip(own)
}

func TestFetchGist(t *testing.T) {
	f := sharing(t, func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Host == "short.example":
			http.Redirect(w, r, "https://gist.github.com/Someone/0123abcd", http.StatusMovedPermanently)
		case strings.EqualFold(r.Host, "gist.github.com") && strings.Contains(r.URL.Path, "/raw"):
			http.Redirect(w, r, "https://gist.githubusercontent.com"+r.URL.Path, http.StatusFound)
		case r.Host == "gist.githubusercontent.com":
			_, _ = io.WriteString(w, r.URL.Path)
		default:
			_, _ = io.WriteString(w, "<!DOCTYPE html><title>gist")
		}
	})
	for address, want := range map[string]string{
		"https://gist.github.com/Someone/0123abcd":                    "/Someone/0123abcd/raw",
		"https://gist.github.com/0123abcd":                            "/0123abcd/raw",
		"https://GIST.github.com/Someone/0123abcd/#file-log-txt":      "/Someone/0123abcd/raw",
		"https://gist.github.com/Someone/0123abcd/4567":               "/Someone/0123abcd/raw/4567",
		"https://gist.github.com/Someone/0123abcd/raw":                "/Someone/0123abcd/raw",
		"https://gist.githubusercontent.com/Someone/0123/raw/a/b.txt": "/Someone/0123/raw/a/b.txt",
		"https://short.example/x":                                     "/Someone/0123abcd/raw",
	} {
		data, err := f.fetch(t.Context(), address)
		require.NoError(t, err, address)
		require.Equal(t, want, string(data), address)
	}
}

func TestFetchBounds(t *testing.T) {
	packed := func(data []byte) []byte {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		_, _ = w.Write(data)
		_ = w.Close()
		return b.Bytes()
	}
	f := sharing(t, func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/log":
			_, _ = io.WriteString(w, "a log")
		case "/auth":
			user, password, _ := r.BasicAuth()
			_, _ = io.WriteString(w, user+password+r.URL.RawQuery+r.Referer()+r.UserAgent())
		case "/log.gz":
			_, _ = w.Write(packed([]byte("a log")))
		case "/empty":
		case "/large":
			_, _ = w.Write(make([]byte, 4<<10+1))
		case "/encoded":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(packed(make([]byte, 1<<20)))
		case "/bomb":
			_, _ = w.Write(packed(make([]byte, 16<<10+1)))
		case "/nested":
			_, _ = w.Write(packed(packed(make([]byte, 1<<20))))
		case "/cut":
			_, _ = w.Write(packed([]byte("a log"))[:12])
		case "/page":
			_, _ = io.WriteString(w, "\n <!doctype HTML><p>log")
		case "/called":
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			_, _ = io.WriteString(w, "<head>log")
		case "/text":
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "a log")
		case "/loop":
			http.Redirect(w, r, "/loop", http.StatusFound)
		case "/file":
			http.Redirect(w, r, "file:///etc/passwd", http.StatusFound)
		case "/bad":
			w.Header().Set("Location", "http://[")
			w.WriteHeader(http.StatusFound)
		case "/down":
			http.Redirect(w, r, "http://logs.example/log", http.StatusFound)
		default:
			http.NotFound(w, r)
		}
	})
	for path, want := range map[string]string{
		"/log": "a log", "/empty": "", "/text": "a log", "/log.gz": string(packed([]byte("a log"))),
		"/cut": string(packed([]byte("a log"))[:12]), "/auth?key=x": "mepasskey=xheed",
	} {
		data, err := f.fetch(t.Context(), "https://me:pass@logs.example"+path)
		require.NoError(t, err, path)
		require.Equal(t, want, string(data), path)
	}
	for path, want := range map[string]string{
		"/large":   "it is larger than 4.0 KiB: download it, and name the file",
		"/encoded": "it is larger than 4.0 KiB",
		"/bomb":    "it unpacks to more than 16.0 KiB",
		"/nested":  "it unpacks to more than 16.0 KiB",
		"/page":    "that is a web page, not a log: use the link to the raw text",
		"/called":  "that is a web page",
		"/loop":    "the server refers to other addresses more than 5 times",
		"/file":    "no valid address",
		"/bad":     "missing ']' in host",
		"/down":    "from https to http",
		"/none":    "the server answers 404 Not Found",
	} {
		_, err := f.fetch(t.Context(), "https://me:pass@logs.example"+path)
		require.ErrorContains(t, err, want, path)
		require.NotContains(t, err.Error(), "pass@", path)
	}
	_, err := f.fetch(t.Context(), "https:///nowhere")
	require.ErrorContains(t, err, "no valid address")
}

func TestFetchTime(t *testing.T) {
	asked := make(chan struct{}, 8) // more than there are requests
	f := sharing(t, func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})
	f.wait = 50 * time.Millisecond
	_, err := f.fetch(t.Context(), "https://logs.example/never?key=secret")
	require.EqualError(t, err, "it took longer than 50ms: download it, and name the file")

	// An interrupt is none of its own errors.
	f.wait = time.Minute
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		<-asked
		stop()
	}()
	_, err = f.fetch(ctx, "https://logs.example/never?key=secret")
	require.ErrorIs(t, err, context.Canceled)
	require.NotContains(t, err.Error(), "secret")

	f.transport = leading{"127.0.0.1:1"}
	_, err = f.fetch(t.Context(), "https://logs.example/gone?key=secret")
	require.Error(t, err)
	require.NotContains(t, err.Error(), "secret")
}

// TestReplayAddress: what is shown of an address is no secret, and a log is fetched once.
func TestReplayAddress(t *testing.T) {
	asked := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		_, _ = io.WriteString(w, "starting "+r.URL.Query().Get("run")+"\nthe end\n")
	}))
	t.Cleanup(server.Close)
	at := testkit.Must(url.Parse(server.URL))
	address := "http://me:pass@" + at.Host + "/logs/Player.log?key=secret&run="
	shown := server.URL + "/logs/Player.log"
	show := func(args ...string) (out, said string, status int) {
		var stdout, stderr bytes.Buffer
		status = run(t.Context(), append(args, "--no-config"), strings.NewReader(""), &stdout, &stderr)
		require.NotContains(t, stdout.String()+stderr.String(), "secret")
		require.NotContains(t, stdout.String()+stderr.String(), "pass")
		return stdout.String(), stderr.String(), status
	}
	out, said, status := show(address + "1")
	require.Equal(t, exitOK, status, said)
	require.Contains(t, out, shown+": plain, 2 lines")
	require.Equal(t, "heed: fetching "+shown+"\n", said)

	out, said, _ = show("diff", address+"1", address+"2")
	require.Contains(t, out, shown+" (2 records) → "+shown+" (2) (2 records)", said)
	out, said, status = show("explain", address+"1:2")
	require.Equal(t, exitOK, status, said)
	require.Contains(t, out, "the end")
	out, said, _ = show("--format", "sarif", address+"1", address+"1")
	require.Contains(t, out, `"version":"2.1.0"`, said)
	require.Equal(t, 5, asked, "once for each address in each run")

	server.Close()
	_, said, status = show(address)
	require.Equal(t, 3, status)
	require.Contains(t, said, shown+": dial tcp")
	_, said, status = show("http://")
	require.Equal(t, exitUsage, status)
	require.Contains(t, said, `"http://" is no address of a log`)
}
