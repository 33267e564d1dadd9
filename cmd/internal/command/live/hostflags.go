package live

import (
	"cmp"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/heedlog/heed/cmd/internal/bridge"
	"github.com/heedlog/heed/cmd/internal/cli"
	"github.com/heedlog/heed/cmd/internal/command"
	"github.com/heedlog/heed/cmd/internal/proc"
	"github.com/heedlog/heed/gabp"
	"github.com/heedlog/heed/gabp/gate"
	"github.com/heedlog/heed/internal/loopback"
)

// hostFlags are the flags of the commands that run an engine.
type hostFlags struct {
	rules       []string
	mods        []string
	noDefaults  bool
	settle      time.Duration
	allow       []string
	observeOnly bool
	failOpen    bool
	noAttention bool
	journal     int
	record      string
	state       string
	metrics     string
	web         string
	logLevel    string
	logFile     string
	grace       time.Duration

	remember command.RememberFlags
}

func (f *hostFlags) register(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringArrayVar(&f.rules, "rules", nil, "read rules from `FILE`, or from the *.yaml and *.yml of a folder; they are tried before the default rules, in order, and read again when they change (repeatable)")
	flags.StringArrayVar(&f.mods, "mods", nil, command.ModsUsage)
	flags.BoolVar(&f.noDefaults, "no-default-rules", false, "leave out the default rules")
	flags.IntVar(&f.journal, "journal", defaultJournal, "keep the last `N` entries for later requests, with 128 bytes of text for each on average")
	flags.StringVar(&f.record, "record", "", "record the engine's input to `FILE`, for heed replay")
	flags.StringVar(&f.state, "state", "", "keep heed's state, with its items, in `DIR`, across restarts of heed (default: items are not kept; "+
		"other files are in the user's state folder, such as ~/.local/state/heed)")
	flags.StringVar(&f.metrics, "metrics", "", "serve Prometheus metrics on `ADDR`, such as 127.0.0.1:9464")
	flags.DurationVar(&f.grace, "grace", proc.DefaultGrace, "when asked to end, wait `DURATION` for the program that heed started, and read the log for as long")
	f.remember.RegisterLive(cmd)
	flags.Bool("metrics-remote", false, "let --metrics listen to other machines, too")
	flags.StringVar(&f.logLevel, "log-level", "info", "log heed's own messages from `LEVEL` up: debug, info, warn or error; error with --quiet, debug with --verbose")
	cli.Choice(cmd, "log-level", "debug", "info", "warn", "error")
	cli.Checked(cmd, f.validate)
}

// registerGate adds the flags of the commands that serve bridges.
func (f *hostFlags) registerGate(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.DurationVar(&f.settle, "settle", 0, "let a call's result wait up to `DURATION` for faults that are logged after it")
	flags.StringArrayVar(&f.allow, "allow", nil, "never hold back the tool `NAME`; stars stand for segments: \"saves/*\", \"debug/**\" (repeatable)")
	flags.BoolVar(&f.observeOnly, "observe-only", false, "show attention, but hold no call back")
	flags.BoolVar(&f.failOpen, "fail-open", false, "let calls through while the log cannot be read")
	flags.BoolVar(&f.noAttention, "no-attention", false, "leave attention to the mod; keep diagnostics and operations")
	flags.StringVar(&f.web, "web", "", "serve a live page for a person on `ADDR`, or on a free port of this machine; \"heed status\" shows its address")
	flags.Lookup("web").NoOptDefVal = "127.0.0.1:0"
	cli.Exclusive(cmd, "observe-only", "no-attention")
	cli.Checked(cmd, func(cmd *cobra.Command) error {
		if f.observeOnly && f.noAttention { // not of flags alone
			return cli.Usage(cmd, `observe-only and no-attention: choose one; "heed config show" shows where they are set`)
		}
		return loopbackOnly(cmd, "web")
	})
}

// The default of --journal, its bounds, and the bytes of text for each entry on average. The default is the journal's.
const (
	defaultJournal = 24576
	minJournal     = 1000
	maxJournal     = 4_000_000
	textPerEntry   = 128
)

// maxSettle bounds --settle, which a project's file may set: clients give up on a call after about a minute.
const maxSettle = time.Minute

// bridges returns how bridges that attach at b are served.
func (f *hostFlags) bridges(b gabp.Bridge) bridge.Config {
	return bridge.Config{Handed: bridge.Handed{Outer: b}, Allow: f.allow, FailOpen: f.failOpen}
}

// validate returns an error for flags that would be refused later, before anything starts.
func (f *hostFlags) validate(cmd *cobra.Command) error {
	if _, err := gate.New(gate.Config{Source: struct{ gate.Source }{}, Allow: f.allow}); err != nil {
		return cli.Usage(cmd, "--allow: %w", err)
	}
	return cmp.Or(cli.NotNegative(cmd, "grace", f.grace), cli.Within(cmd, "settle", f.settle, 0, maxSettle),
		cli.Within(cmd, "journal", f.journal, minJournal, maxJournal), loopbackOnly(cmd, "metrics"))
}

// loopbackOnly returns an error for a flag with an address that is open to other machines, unless the flag of the same
// name with -remote is set.
func loopbackOnly(cmd *cobra.Command, flag string) error {
	addr, instead := cmd.Flag(flag).Value.String(), "use 127.0.0.1"
	remote, err := cmd.Flags().GetBool(flag + "-remote")
	if err == nil { // there is such a flag
		instead += ", or --" + flag + "-remote"
	}
	if addr == "" || remote || flag == "connect" && strings.HasPrefix(addr, "unix:") {
		return nil
	}
	if _, _, err := net.SplitHostPort(addr); err != nil {
		return cli.Usage(cmd, "--%s: %w", flag, err)
	}
	if !loopback.Is(addr) {
		return cli.Usage(cmd, "--%s %s is open to other machines: %s", flag, addr, instead)
	}
	return nil
}
