package command

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/internal/files"
)

// fetched is a log that is shared at an address.
type fetched struct {
	address string
	data    []byte // nil before it was read
}

// named returns the name of an input in messages and reports. For an address it leaves out user, password, query and
// fragment, which may be secret.
func (p *program) named(input string) string {
	if !files.IsAddress(input) {
		return input
	}
	u, err := url.Parse(input)
	if err != nil || u.Host == "" {
		return input // opening it returns the error
	}
	shown := (&url.URL{Scheme: strings.ToLower(u.Scheme), Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
	if p.fetched == nil {
		p.fetched = map[string]*fetched{}
	}
	name := shown
	for i := 2; p.fetched[name] != nil && p.fetched[name].address != input; i++ {
		name = fmt.Sprintf("%s (%d)", shown, i) // the addresses differ in a part that is left out
	}
	if p.fetched[name] == nil {
		p.fetched[name] = &fetched{address: input}
	}
	return name
}

// openAddress opens a log that is shared at an address, by its name. It is read once, and then held.
func (p *program) openAddress(ctx context.Context, name string) (*input, error) {
	f := p.fetched[name]
	switch {
	case f == nil:
		return nil, cli.Failed(exitUsage, fmt.Errorf("%q is no address of a log", name))
	case p.host.Fetch == nil:
		return nil, cli.Failed(exitUsage, fmt.Errorf("%s: %s uses no network: download the log, or use heed", name, p.Name))
	case f.data == nil:
		p.Note("fetching %s", name)
		data, err := p.host.Fetch(ctx, f.address)
		if err != nil {
			return nil, ioError(fmt.Errorf("%s: %w", name, err))
		}
		f.data = append([]byte{}, data...) // not nil
	}
	return &input{bufio.NewReaderSize(bytes.NewReader(f.data), readSize), func() error { return nil }}, nil
}

// fileOf returns the last part of an address as the name of a file on any system.
func fileOf(address string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x80 && strings.ContainsRune(`<>:"/\|?*% `, r) || r < ' ' {
			return '_'
		}
		return r
	}, path.Base(address))
}
