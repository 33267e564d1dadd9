package bridge

import (
	"encoding/json"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/heedlog/heed/gabp"
)

// Handed holds the address and token from the bridge that started this process, and their replacements for the game.
// Everything else is passed on unchanged.
type Handed struct {
	// Prefix are the arguments of this process up to and with the game's program.
	Prefix []string

	// Outer is from the bridge: Path is "" if the environment had none. Inner is for the game.
	Outer, Inner gabp.Bridge
}

// replacement is an environment variable: its value from the bridge, and for the game.
type replacement struct{ name, outer, inner string }

func (h *Handed) replaced() []replacement {
	return []replacement{
		{gabp.EnvPort, strconv.Itoa(h.Outer.Port()), strconv.Itoa(h.Inner.Port())},
		{gabp.EnvToken, h.Outer.Token, h.Inner.Token},
		{gabp.EnvBridge, h.Outer.Path, h.Inner.Path},
	}
}

// sameName reports whether two names mean one environment variable.
func sameName(a, b string) bool {
	return a == b || runtime.GOOS == "windows" && strings.EqualFold(a, b)
}

// Environ returns the environment for the game, of which [os/exec] takes the last value of a name: environ, and then
// port, token and, if there is one in it, the path of the bridge file.
func (h *Handed) Environ(environ []string) []string {
	out := slices.Clone(environ)
	for _, r := range h.replaced() {
		names := func(kv string) bool { name, _, _ := strings.Cut(kv, "="); return sameName(name, r.name) }
		if r.name != gabp.EnvBridge || slices.ContainsFunc(environ, names) {
			out = append(out, r.name+"="+r.inner)
		}
	}
	return out
}

// observed translates a mod's report of its start into the values of this process, with which the bridge compares it:
// GABS hashes the arguments after the first, the working directory and each variable that it named in GABS_FORWARD_ENV,
// and compares. A value that the mod got from this process becomes the value that this process got. Any other value is
// passed on, so that a loss on the way shows.
func (h *Handed) observed(raw json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(raw, &members) != nil || members == nil {
		return raw
	}
	var argv []string
	if json.Unmarshal(members["argv"], &argv) == nil && len(argv) > 0 && len(h.Prefix) > 0 {
		members["argv"] = Encode(append(slices.Clone(h.Prefix), argv[1:]...))
	}
	var values map[string]string
	if json.Unmarshal(members["envValues"], &values) == nil && len(values) > 0 {
		for name, v := range values {
			for _, r := range h.replaced() {
				if sameName(name, r.name) && v == r.inner {
					values[name] = r.outer
				}
			}
		}
		members["envValues"] = Encode(values)
	}
	return Encode(members)
}
