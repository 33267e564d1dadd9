package mcp

import (
	"bytes"
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
	find := c.findJSON
	if filepath.Ext(file) == ".toml" {
		find = c.findTOML
	}
	e, err := find(data, server)
	if err != nil {
		return nil, "", "", err
	}
	changed, err := e.alone()
	if len(own) > 0 {
		changed, err = e.fronted(own)
	}
	if err != nil {
		return nil, "", "", err
	}
	before, after = string(data[e.from:e.to]), string(e.render(changed))
	return slices.Concat(data[:e.from], []byte(after), data[e.to:]), before, after, nil
}

// started is how a client starts a server, or where it finds one.
type started struct {
	command string
	args    []string
	url     string
}

// found is the entry of a server in a file.
type found struct {
	started
	from, to int // in the file
	render   func(started) []byte
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

// findJSON finds a server in a file of JSON.
func (c *Client) findJSON(data []byte, server string) (*found, error) {
	d := jsontext.NewDecoder(bytes.NewReader(uncommented(data)))
	at := jsontext.Pointer("").AppendToken(c.key).AppendToken(server)
	for d.StackPointer() != at {
		if _, err := d.ReadToken(); errors.Is(err, io.EOF) {
			return nil, ErrNoServer
		} else if err != nil {
			return nil, err
		}
	}
	raw, err := d.ReadValue()
	if err != nil {
		return nil, err
	}
	raw = raw.Clone()
	to := int(d.InputOffset())
	e := &found{from: to - len(raw), to: to}
	line := data[bytes.LastIndexByte(data[:e.from], '\n')+1 : e.from]
	margin := string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
	indent := "  "
	if strings.Contains(margin, "\t") {
		indent = "\t"
	}
	members := map[string]json.RawMessage{}
	if err := json.Unmarshal(raw, &members); err != nil {
		return nil, fmt.Errorf("the entry is no object: %w", err)
	}
	address := "url"
	for _, name := range addresses {
		if members[name] != nil {
			address = name
			_ = json.Unmarshal(members[name], &e.url)
		}
	}
	if members["headers"] != nil {
		return nil, errors.New("the entry has headers, which heed does not send: put its token into a file, for --url-token-file")
	}
	_ = json.Unmarshal(members["command"], &e.command)
	_ = json.Unmarshal(members["args"], &e.args)
	e.render = func(s started) []byte {
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
	}
	return e, nil
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

// Servers returns the sorted names of the servers in a file of the client, as far as it can be read.
func (c *Client) Servers(file string, data []byte) (names []string) {
	if filepath.Ext(file) == ".toml" {
		head := regexp.MustCompile(`(?m)^\s*\[` + c.key + `\.(?:"([^"\n]*)"|([^."\]\n]*))\]`)
		for _, m := range head.FindAllSubmatch(data, -1) {
			names = append(names, string(m[1])+string(m[2]))
		}
		slices.Sort(names)
		return names
	}
	d := jsontext.NewDecoder(bytes.NewReader(uncommented(data)))
	for _, err := d.ReadToken(); err == nil; _, err = d.ReadToken() {
		if at := d.StackPointer(); at.Parent() == jsontext.Pointer("").AppendToken(c.key) {
			names = append(names, at.LastToken())
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// tomlKey is a line of a table that has one value on one line.
var tomlKey = text.Lazy(`^\s*(command|args|url)\s*=\s*(.*?)\s*$`)

// findTOML finds a server in a file of TOML, in which it is a table with one value on each line.
func (c *Client) findTOML(data []byte, server string) (*found, error) {
	heads := []string{"[" + c.key + "." + server + "]", "[" + c.key + "." + string(encode(server)) + "]"}
	var e *found
	at := 0
	for line := range bytes.Lines(data) {
		text := strings.TrimSpace(string(line))
		at += len(line)
		switch m := tomlKey().FindStringSubmatch(strings.TrimRight(string(line), "\r\n")); {
		case e == nil && slices.Contains(heads, text):
			e = &found{from: at, to: at}
		case e == nil:
		case strings.HasPrefix(text, "["):
			return e, nil
		case m != nil:
			into := map[string]any{"command": &e.command, "args": &e.args, "url": &e.url}[m[1]]
			if json.Unmarshal([]byte(m[2]), into) != nil {
				return nil, fmt.Errorf("%s: want a value in double quotes on one line", m[1])
			}
			e.to = at
		}
		if e != nil && e.render == nil {
			e.render = func(s started) []byte { return tomlLines(data[e.from:e.to], s) }
		}
	}
	if e == nil {
		return nil, ErrNoServer
	}
	return e, nil
}

// tomlLines returns the lines of a table with another server.
func tomlLines(lines []byte, s started) []byte {
	var out []byte
	if s.url != "" {
		out = fmt.Appendf(out, "url = %s\n", encode(s.url))
	} else {
		out = fmt.Appendf(out, "command = %s\nargs = %s\n", encode(s.command), encode(s.args))
	}
	for line := range bytes.Lines(lines) {
		if !tomlKey().Match(bytes.TrimRight(line, "\r\n")) {
			out = append(out, line...)
		}
	}
	return out
}
