package live

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/unpack"
)

// fetcher reads logs that people share. Answers of servers are untrusted: they are bounded in bytes, in unpacked bytes,
// and in time.
type fetcher struct {
	transport http.RoundTripper
	bytes     int64
	unpacked  int64
	wait      time.Duration // for all of it
}

// newFetcher returns a fetcher with the bounds of the program. A log beyond them is for a browser to download.
func newFetcher() *fetcher {
	return &fetcher{transport: http.DefaultTransport, bytes: 64 << 20, unpacked: 256 << 20, wait: time.Minute}
}

// maxRedirects bounds how often a server may name another address, as a short link and the raw form of a page do.
const maxRedirects = 5

// maxPacked bounds how often in a row a log may be compressed.
const maxPacked = 4

// instead ends an error of what heed does not fetch.
const instead = "download it, and name the file"

// fetch reads the log at an address. No error holds a part of an address that may be secret.
func (f *fetcher) fetch(ctx context.Context, address string) ([]byte, error) {
	bounded, cancel := context.WithTimeout(ctx, f.wait)
	defer cancel()
	data, err := f.follow(bounded, address)
	if errors.Is(bounded.Err(), context.DeadlineExceeded) {
		return nil, fmt.Errorf("it took longer than %s: %s", f.wait, instead)
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address
	}
	return data, err
}

// follow reads the log at an address, or at the address that the server names.
func (f *fetcher) follow(ctx context.Context, address string) ([]byte, error) {
	client := &http.Client{
		Transport:     f.transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	at := &url.URL{}
	for range maxRedirects + 1 {
		from := at.Scheme
		next, err := at.Parse(address)
		if err != nil || next.Host == "" || next.Scheme != "http" && next.Scheme != "https" {
			return nil, errors.New("no valid address: use one that begins with https://")
		}
		if from == "https" && next.Scheme == "http" {
			return nil, errors.New("the server refers from https to http, where anybody may change the log: " + instead)
		}
		at = raw(next)
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at.String(), http.NoBody)
		if err != nil {
			return nil, err
		}
		request.Header.Set("User-Agent", "heed")
		request.Header.Set("Accept", "text/plain, */*;q=0.5")
		response, err := client.Do(request)
		if err != nil {
			return nil, err
		}
		address = response.Header.Get("Location")
		if response.StatusCode/100 != 3 || address == "" {
			data, err := f.read(response)
			_ = response.Body.Close() // only read from
			return data, err
		}
		_ = response.Body.Close()
	}
	return nil, fmt.Errorf("the server refers to other addresses more than %d times", maxRedirects)
}

// read reads an answer.
func (f *fetcher) read(response *http.Response) ([]byte, error) {
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the server answers %d %s", response.StatusCode, http.StatusText(response.StatusCode))
	}
	data, err := io.ReadAll(io.LimitReader(response.Body, f.bytes+1))
	switch {
	case err != nil:
		return nil, err
	case int64(len(data)) > f.bytes:
		return nil, fmt.Errorf("it is larger than %s: %s", cli.Bytes(float64(f.bytes)), instead)
	case isPage(data, response.Header.Get("Content-Type")):
		return nil, errors.New("that is a web page, not a log: use the link to the raw text")
	}
	if _, tooLarge := errors.AsType[*http.MaxBytesError](readWithin(data, f.unpacked)); tooLarge {
		return nil, fmt.Errorf("it unpacks to more than %s: %s", cli.Bytes(float64(f.unpacked)), instead)
	}
	return data, nil
}

// raw returns the address of the text of a gist for the address of its page: of its first file, if it has several. Any
// other address is as it was.
func raw(at *url.URL) *url.URL {
	parts := strings.Split(strings.Trim(at.Path, "/"), "/") // [USER/]ID or USER/ID/REVISION
	if !strings.EqualFold(at.Hostname(), "gist.github.com") || parts[0] == "" || len(parts) > 3 ||
		slices.Contains(parts, "raw") {
		return at
	}
	to := *at
	to.Path, to.RawPath = "/"+strings.Join(slices.Insert(parts, min(len(parts), 2), "raw"), "/"), ""
	return &to
}

// isPage reports whether an answer is HTML. Logs begin with no tag, whatever their content type.
func isPage(data []byte, contentType string) bool {
	head := bytes.ToLower(bytes.TrimSpace(bytes.TrimPrefix(data[:min(len(data), 512)], []byte("\ufeff"))))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html")) ||
		bytes.HasPrefix(head, []byte("<")) && strings.HasPrefix(contentType, "text/html")
}

// readWithin reads compressed data, and returns an [http.MaxBytesError] if it has more than limit unpacked bytes. The
// reader of the log reports any other error.
func readWithin(data []byte, limit int64) error {
	var r io.Reader = bytes.NewReader(data)
	for range maxPacked {
		contents, form, err := unpack.Layer(http.MaxBytesReader(nil, io.NopCloser(r), limit))
		if form == "" {
			_, err = io.Copy(io.Discard, contents)
			return err
		}
		if err != nil {
			return err
		}
		r = contents
	}
	return nil // more often than a log is read
}
