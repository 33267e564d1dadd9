package mcp

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/heedlog/heed/internal/text"
)

// A Client is a program that starts MCP servers, by a file that names them.
type Client struct {
	Name  string
	Files []string // below the project, and with ~ below the home of the user; the first that has the server counts
	key   string   // of the servers
}

// Clients are the clients whose files are known.
var Clients = []Client{
	{"claude", []string{".mcp.json", "~/.claude.json"}, "mcpServers"},
	{"codex", []string{".codex/config.toml", "~/.codex/config.toml"}, "mcp_servers"},
	{"cursor", []string{".cursor/mcp.json", "~/.cursor/mcp.json"}, "mcpServers"},
	{"gemini", []string{".gemini/settings.json", "~/.gemini/settings.json"}, "mcpServers"},
	{"vscode", []string{".vscode/mcp.json"}, "servers"},
}

// ErrNoServer says that a file has no server of the name.
var ErrNoServer = errors.New("no server of that name")

// ErrInFront and ErrAlone say that there is nothing to change.
var (
	ErrInFront = errors.New("heed is in front of it already")
	ErrAlone   = errors.New("heed is not in front of it")
)

// Edit returns the file of a client with heed, own, in front of a server that it names, or without it for an empty
// own, and the entry of the server before and after. The rest of the file stays, byte by byte. The error names what
// cannot be read, or why there is nothing to change.
func (c *Client) Edit(file string, data []byte, server string, own []string) (
	edited []byte, before, after string, err error,
) {
	entries, err := c.entries(file, data)
	i := slices.IndexFunc(entries, func(e entry) bool { return e.name == server })
	if i < 0 {
		return nil, "", "", cmp.Or(err, ErrNoServer)
	}
	read, from, to := readJSON, entries[i].from, entries[i].to
	if filepath.Ext(file) == ".toml" {
		read = readTOML
	}
	s, render, err := read(data[:to], from)
	if err != nil {
		return nil, "", "", err
	}
	changed, err := s.alone()
	if len(own) > 0 {
		changed, err = s.fronted(own)
	}
	if err != nil {
		return nil, "", "", err
	}
	before, after = string(data[from:to]), string(render(changed))
	return slices.Concat(data[:from], []byte(after), data[to:]), before, after, nil
}

// Servers returns the sorted names of the servers in a file of the client, as far as it can be read.
func (c *Client) Servers(file string, data []byte) (names []string) {
	entries, _ := c.entries(file, data)
	for _, e := range entries {
		names = append(names, e.name)
	}
	slices.Sort(names)
	return names
}

// entry is the place of a server in a file.
type entry struct {
	name     string
	from, to int
}

// entries returns the servers before an error.
func (c *Client) entries(file string, data []byte) (all []entry, err error) {
	if filepath.Ext(file) == ".toml" { // a table with one value on each line
		head := regexp.MustCompile(`(?m)^[ \t]*\[` + c.key + `\.(?:"([^"\n]*)"|([^."\]\n]*))\][^\n]*(?:\n|\z)`)
		for _, m := range head.FindAllSubmatchIndex(data, -1) {
			e := entry{string(data[max(m[2], m[4]):max(m[3], m[5])]), m[1], m[1]}
			table := tomlHead().Split(string(data[e.from:]), 2)[0]
			if keys := tomlKey().FindAllStringIndex(table, -1); keys != nil {
				e.to = e.from + keys[len(keys)-1][1]
			}
			all = append(all, e)
		}
		return all, nil
	}
	d := jsontext.NewDecoder(bytes.NewReader(uncommented(data)))
	for {
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return all, err
		}
		if at := d.StackPointer(); at.Parent() == jsontext.Pointer("").AppendToken(c.key) {
			raw, err := d.ReadValue()
			if err != nil {
				return all, err
			}
			to := int(d.InputOffset())
			all = append(all, entry{at.LastToken(), to - len(raw), to})
		}
	}
}

// started is how a client starts a server, or where it finds one.
type started struct {
	command string
	args    []string
	url     string
}

// fronted returns how to start heed, own, in front of the server.
func (s started) fronted(own []string) (started, error) {
	before := s
	if alone, err := s.alone(); err == nil { // with these flags, or others that they replace
		s = alone
	}
	switch {
	case s.url != "":
		s = started{command: own[0], args: append(slices.Clone(own[1:]), "--url", s.url)}
	case s.command == "":
		return s, errors.New("the server has neither a command nor an address")
	default:
		s = started{command: own[0], args: slices.Concat(own[1:], []string{"--", s.command}, s.args)}
	}
	if s.command == before.command && slices.Equal(s.args, before.args) {
		return s, ErrInFront
	}
	return s, nil
}

// alone returns how to start the server without heed.
func (s started) alone() (started, error) {
	program := filepath.Base(strings.ReplaceAll(s.command, `\`, "/"))
	if strings.HasPrefix(program, "heed") && len(s.args) > 1 && s.args[0] == "mcp" {
		if i := slices.Index(s.args, "--"); i >= 0 && i+1 < len(s.args) {
			return started{command: s.args[i+1], args: s.args[i+2:]}, nil
		}
		if i := slices.Index(s.args, "--url"); i >= 0 && i+1 < len(s.args) {
			return started{url: s.args[i+1]}, nil
		}
	}
	return s, ErrAlone
}

// addresses are the members with the address of a server over HTTP.
var addresses = []string{"url", "httpUrl", "serverUrl"}

// readJSON reads the entry at the end of data. render writes it for another server.
func readJSON(data []byte, from int) (s started, render func(started) []byte, err error) {
	line := data[bytes.LastIndexByte(data[:from], '\n')+1 : from]
	margin := string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
	indent := "  "
	if strings.Contains(margin, "\t") {
		indent = "\t"
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(uncommented(data[from:]), &members); err != nil {
		return s, nil, fmt.Errorf("the entry is no object: %w", err)
	}
	if members["headers"] != nil {
		return s, nil, errors.New("the entry has headers, which heed does not send: put its token into a file, for --url-token-file")
	}
	address := "url"
	for _, name := range addresses {
		if members[name] != nil {
			address = name
			_ = json.Unmarshal(members[name], &s.url)
		}
	}
	_ = json.Unmarshal(members["command"], &s.command)
	_ = json.Unmarshal(members["args"], &s.args)
	return s, func(s started) []byte {
		for _, name := range append(addresses, "command", "args") {
			delete(members, name)
		}
		kind := "http"
		if s.url != "" {
			members[address] = encode(s.url)
		} else {
			kind, members["command"], members["args"] = "stdio", encode(s.command), encode(s.args)
		}
		if members["type"] != nil {
			members["type"] = encode(kind)
		}
		var out bytes.Buffer
		_ = json.Indent(&out, encode(members), margin, indent) // which is JSON
		return out.Bytes()
	}, nil
}

// comment is a comment in JSON, or a string, which may hold the signs of one.
var comment = text.Lazy(`"(?:[^"\\]|\\.)*"|//[^\n]*|/\*(?s:.*?)\*/`)

// uncommented returns JSON with spaces in place of comments, so that all else keeps its offset.
func uncommented(data []byte) []byte {
	return comment().ReplaceAllFunc(data, func(found []byte) []byte {
		if found[0] == '"' {
			return found
		}
		return bytes.Repeat([]byte(" "), len(found))
	})
}

// tomlHead begins a table.
var tomlHead = text.Lazy(`(?m)^[ \t]*\[`)

// tomlKey is a line of a table that has one value on one line.
var tomlKey = text.Lazy(`(?m)^[ \t]*(command|args|url)[ \t]*=[ \t]*(.*?)[ \t\r]*(?:\n|\z)`)

// readTOML reads the lines of a table at the end of data. render writes them for another server.
func readTOML(data []byte, from int) (s started, render func(started) []byte, err error) {
	lines := data[from:]
	for _, m := range tomlKey().FindAllSubmatch(lines, -1) {
		into := map[string]any{"command": &s.command, "args": &s.args, "url": &s.url}[string(m[1])]
		if json.Unmarshal(m[2], into) != nil {
			return s, nil, fmt.Errorf("%s: want a value in double quotes on one line", m[1])
		}
	}
	return s, func(s started) []byte {
		out := fmt.Appendf(nil, "command = %s\nargs = %s\n", encode(s.command), encode(s.args))
		if s.url != "" {
			out = fmt.Appendf(nil, "url = %s\n", encode(s.url))
		}
		return append(out, tomlKey().ReplaceAll(lines, nil)...)
	}, nil
}
