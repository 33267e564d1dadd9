package mcp

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/heedlog/heed/internal/framing"
	"github.com/heedlog/heed/internal/testkit"
)

// TestEdit puts heed in front of a server in the file of a client, and takes it away again.
func TestEdit(t *testing.T) {
	own := []string{"/bin/heed", "mcp", "--log", "Player.log"}
	for _, c := range []struct{ name, client, file, before, after string }{
		{
			"a program", "claude", ".mcp.json",
			"{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"},\n    \"game\": {\n      \"args\": [\n        \"--fast\"\n      ],\n      \"command\": \"./srv\",\n      \"env\": {\n        \"A\": \"<b>\"\n      }\n    }\n  },\n  \"more\" : 1.0\n}\n",
			"{\n  \"mcpServers\": {\n    \"other\": {\"command\": \"x\"},\n    \"game\": {\n      \"args\": [\n        \"mcp\",\n        \"--log\",\n        \"Player.log\",\n        \"--\",\n        \"./srv\",\n        \"--fast\"\n      ],\n      \"command\": \"/bin/heed\",\n      \"env\": {\n        \"A\": \"<b>\"\n      }\n    }\n  },\n  \"more\" : 1.0\n}\n",
		},
		{
			"an address", "vscode", ".vscode/mcp.json",
			"{\n\t\"servers\": {\n\t\t\"game\": {\n\t\t\t\"type\": \"http\",\n\t\t\t\"url\": \"http://127.0.0.1:8080/mcp\"\n\t\t}\n\t}\n}",
			"{\n\t\"servers\": {\n\t\t\"game\": {\n\t\t\t\"args\": [\n\t\t\t\t\"mcp\",\n\t\t\t\t\"--log\",\n\t\t\t\t\"Player.log\",\n\t\t\t\t\"--url\",\n\t\t\t\t\"http://127.0.0.1:8080/mcp\"\n\t\t\t],\n\t\t\t\"command\": \"/bin/heed\",\n\t\t\t\"type\": \"stdio\"\n\t\t}\n\t}\n}",
		},
		{
			"TOML with an address", "codex", "config.toml",
			"[mcp_servers.game] # mine\nurl = \"http://h/\"\n  [mcp_servers.game.env]\n  command = \"A\"\n",
			"[mcp_servers.game] # mine\ncommand = \"/bin/heed\"\nargs = [\"mcp\",\"--log\",\"Player.log\",\"--url\",\"http://h/\"]\n  [mcp_servers.game.env]\n  command = \"A\"\n",
		},
		{
			"TOML", "codex", "config.toml",
			"model = \"m\"\n\n[mcp_servers.game]\ncommand = \"npx\"\nargs = [\"game-mcp\"]\n# slow\nstartup_timeout_sec = 20\n\n[mcp_servers.game.env]\nA = \"b\"\n",
			"model = \"m\"\n\n[mcp_servers.game]\ncommand = \"/bin/heed\"\nargs = [\"mcp\",\"--log\",\"Player.log\",\"--\",\"npx\",\"game-mcp\"]\n# slow\nstartup_timeout_sec = 20\n\n[mcp_servers.game.env]\nA = \"b\"\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			client := clientOf(t, c.client)
			edited, before, after, err := client.Edit(c.file, []byte(c.before), "game", own)
			require.NoError(t, err)
			require.Equal(t, c.after, string(edited))
			require.Contains(t, c.before, before)
			require.Contains(t, c.after, after)

			_, _, _, err = client.Edit(c.file, edited, "game", own)
			require.ErrorIs(t, err, ErrInFront)
			require.EqualError(t, err, "heed is in front of it already")
			other, _, _, err := client.Edit(c.file, edited, "game", append(slices.Clone(own), "--fail-open"))
			require.NoError(t, err)
			other, _, _, err = client.Edit(c.file, other, "game", own)
			require.NoError(t, err)
			require.Equal(t, string(edited), string(other), "other flags replace the flags")
			back, _, _, err := client.Edit(c.file, edited, "game", nil)
			require.NoError(t, err)
			if c.client == "codex" {
				require.Equal(t, c.before, string(back))
			} else {
				require.JSONEq(t, c.before, string(back))
			}
			_, _, _, err = client.Edit(c.file, back, "game", nil)
			require.ErrorIs(t, err, ErrAlone)
			require.EqualError(t, err, "heed is not in front of it")
			_, _, _, err = client.Edit(c.file, edited, "gone", own)
			require.ErrorIs(t, err, ErrNoServer)
			require.Contains(t, client.Servers(c.file, edited), "game")
		})
	}
}

func TestEditRefuses(t *testing.T) {
	for _, c := range []struct{ client, file, data, says string }{
		{"claude", ".mcp.json", ``, ErrNoServer.Error()},
		{"claude", ".mcp.json", `{"mcpServers": {"game`, "EOF"},
		{"claude", ".mcp.json", `[]`, ErrNoServer.Error()},
		{"claude", ".mcp.json", `{"mcpServers": {"game": 1}}`, "no object"},
		{"claude", ".mcp.json", `{"mcpServers": {"game": {}}}`, "neither a command nor an address"},
		{"claude", ".mcp.json", `{"mcpServers": {"game": {"url": "http://h/", "headers": {"Authorization": "x"}}}}`, "--url-token-file"},
		{"codex", "config.toml", "[mcp_servers.game]\nargs = [\n\"a\"]\n", "on one line"},
		{"codex", "config.toml", "[mcp_servers.games]\ncommand = \"a\"\n", ErrNoServer.Error()},
	} {
		_, _, _, err := clientOf(t, c.client).Edit(c.file, []byte(c.data), "game", []string{"heed", "mcp"})
		require.ErrorContains(t, err, c.says, c.data)
	}
}

func clientOf(t *testing.T, name string) *Client {
	for i := range Clients {
		if Clients[i].Name == name {
			return &Clients[i]
		}
	}
	t.Fatal(name)
	return nil
}

// TestEditKeepsComments edits a file with comments, which several clients allow.
func TestEditKeepsComments(t *testing.T) {
	const before = "// \"a\": {\n{/* { */\"servers\": { // \"game\"\n" +
		"\"a\": {\"command\": \"//x /* \\\"\"}, \"game\": {\"command\": \"srv\" /* } */}}, // the end\n}"
	client := clientOf(t, "vscode")
	edited, old, now, err := client.Edit("mcp.json", []byte(before), "game", []string{"heed", "mcp", "--brief", "0"})
	require.NoError(t, err)
	require.Equal(t, "{\"command\": \"srv\" /* } */}", old)
	require.Equal(t, strings.Replace(before, old, now, 1), string(edited))
	require.Equal(t, []string{"a", "game"}, client.Servers("mcp.json", edited))
}

// FuzzEdit edits any file: what is edited reads as before without heed.
func FuzzEdit(f *testing.F) {
	f.Add(true, `{"mcpServers": {"game": {"command": "a", "args": ["b"]}}}`)
	f.Add(true, `{"mcpServers": {"game": {"url": "http://h/"}}, "x": [1, {"a": null}]}`)
	f.Add(false, "[mcp_servers.game]\ncommand = \"a\"\nargs = [\"b\"]\n")
	f.Fuzz(func(t *testing.T, isJSON bool, data string) {
		client, file := &Clients[0], "a.json"
		if !isJSON {
			client, file = &Clients[1], "a.toml"
		}
		edited, _, _, err := client.Edit(file, []byte(data), "game", []string{"heed", "mcp"})
		if err != nil {
			return
		}
		back, _, _, err := client.Edit(file, edited, "game", nil)
		require.NoError(t, err)
		again, _, _, err := client.Edit(file, back, "game", []string{"heed", "mcp"})
		require.NoError(t, err)
		require.Equal(t, string(edited), string(again))
	})
}

// TestBodyIsBounded reads a body of the greatest length, and one that is longer by a byte.
func TestBodyIsBounded(t *testing.T) {
	body := make([]byte, framing.MaxMessage+1)
	require.Len(t, testkit.Must(readBody(bytes.NewReader(body[1:]))), framing.MaxMessage)
	_, err := readBody(bytes.NewReader(body))
	require.Equal(t, &framing.LongError{Size: len(body), Limit: framing.MaxMessage}, err)
}
